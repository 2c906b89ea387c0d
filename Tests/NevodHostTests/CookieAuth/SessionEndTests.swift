import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests when a session has ended, and when it only seems so.
struct SessionEndTests {
    private func status(_ session: SchemeSession, _ url: String) async throws -> Int {
        let options = RequestOptions(redirects: .none)
        return try await session.provider().send(HTTPRequest(.get, url), options).status
    }

    @Test(arguments: [
        "Location: /login", "Location: login?next=%2Fx", "Location: HTTP://127.0.0.1/login", "Location: ./a/../login#top",
    ])
    func `A redirect to the login page ends the session`(line: String) async throws {
        let port = Locked("")
        let site = try CookieSite { _ in
            .init(status: 302, headers: [line.replacing("127.0.0.1", with: "127.0.0.1:\(port.withLock { $0 })")])
        }
        port.withLock { $0 = site.url.split(separator: ":").last.map(String.init) ?? "" }
        let session = try site.session()
        #expect(try await status(session, "\(site.url)/x") == 200)
        site.end()
        #expect(try await status(session, "\(site.url)/x") == 200)
        #expect(site.logins == 2)
    }

    @Test(arguments: [
        "Location: /loginx", "Location: /", "Location: https://127.0.0.1/login", "Location: http://other.example/login",
    ])
    func `A redirect elsewhere does not end the session`(line: String) async throws {
        let site = try CookieSite { _ in .init(status: 302, headers: [line]) }
        let session = try site.session()
        try await session.login()
        site.end()
        #expect(try await status(session, "\(site.url)/x") == 302)
        #expect(site.logins == 1)
    }

    /// A new session wouldn't change the result of the application's own requests to these pages.
    @Test(arguments: ["/login?again", "/out"])
    func `Redirects of the login page and the logout don't end the session`(target: String) async throws {
        let site = try CookieSite { _ in .init(status: 302, headers: ["Location: /login"]) }
        let session = try site.session([("logout", "\(site.url)/out"), ("logout-method", "GET")])
        try await session.login()
        site.end()
        #expect(try await status(session, "\(site.url)\(target)") == 302)
        #expect(site.logins == 1)
    }

    @Test func `A redirect to the page of the form ends the session`() async throws {
        let site = try CookieSite { request in
            request.target == "/form"
                ? .init(headers: ["Set-Cookie: csrftoken=t"]) : .init(status: 303, headers: ["Location: /form"])
        }
        let session = try site.session([("page", "\(site.url)/form"), ("csrf", "cookie")])
        try await session.login()
        site.end()
        _ = try await status(session, "\(site.url)/x")
        #expect(site.logins == 2)
    }

    @Test func `A refusal that deletes the cookie costs one login, and stores nothing in between`() async throws {
        let site = try CookieSite { _ in .init(status: 401, headers: ["Set-Cookie: sid=; Max-Age=0"]) }
        let session = try site.session()
        try await session.login()
        site.end()
        let provider = session.provider()
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await provider.text("\(site.url)/x").status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 50))
        #expect(site.logins == 2)
        #expect(site.server.requests.allSatisfy { $0.target == "/login" || $0["Cookie"] != nil })
    }

    @Test func `A session whose last cookie a response deletes is renewed when a request needs it`() async throws {
        let site = try CookieSite { request in
            request.target == "/public"
                ? .init(headers: ["Set-Cookie: sid=; Max-Age=0"]) : .init(status: 302, headers: ["Location: /login"])
        }
        let session = try site.session()
        try await session.login()
        site.end()
        #expect(try await status(session, "\(site.url)/public") == 200)
        #expect(try await status(session, "\(site.url)/x") == 200)
        #expect(site.logins == 2)
    }

    @Test func `The CSRF token of a page stays at its origin`() async throws {
        let site = try CookieSite { _ in .init(headers: ["Set-Cookie: csrftoken=t"]) }
        let other = try ScriptedServer { _ in .init() }
        let session = try site.session([("csrf", "cookie"), ("page", "\(site.url)/form?secret"), ("logout", "\(other.url)/out")])
        try await session.login()
        try await session.logout()
        let login = try #require(site.server.requests.last { $0.target == "/login" })
        #expect(login["X-CSRFToken"] == "t")
        #expect(login["Referer"] == "\(site.url)/form?secret")
        let logout = try #require(other.requests.last)
        #expect(logout["Origin"] == site.url)
        #expect(logout["X-CSRFToken"] == nil && logout["Referer"] == nil)
    }

    /// The plugin's clock is hours earlier than the interceptor's, so the interceptor considers the session expired from the
    /// start.
    @Test func `A session whose cookie has expired is renewed before the request`() async throws {
        let site = try CookieSite(attributes: "; Max-Age=60") { _ in .init(status: 401) }
        let session = try site.session([("session-cookie", "sid")], clock: HostClock { 1_000 * 1_000_000_000 })
        try await session.login()
        #expect(try await session.tokenStorage.load()?.expiresAt == UnixTime(seconds: 1_060))
        #expect(try await status(session, "\(site.url)/x") == 200)
        #expect(site.logins == 2)
        #expect(site.server.requests.map(\.target) == ["/login", "/login", "/x"])
    }

    @Test func `A password that is no longer valid ends the session, and the request has the reason`() async throws {
        let isLocked = Locked(false)
        let logins = Collected<Bool>()
        let server = try ScriptedServer { request in
            if request.target == "/login" {
                logins.append(true)
                return isLocked.withLock { $0 } ? .init(status: 401) : .init(headers: ["Set-Cookie: sid=1"])
            }
            return .init(status: isLocked.withLock { $0 } ? 401 : 200)
        }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        #expect(try await status(session, "\(server.url)/x") == 200)
        isLocked.withLock { $0 = true }
        let error = await #expect(throws: NetworkError.self) { try await status(session, "\(server.url)/x") }
        #expect(error?.description.contains("the server refused to renew the token: ") == true)
        #expect(try await session.tokenStorage.load() == nil)
        #expect(logins.values.count == 2)
    }
}
