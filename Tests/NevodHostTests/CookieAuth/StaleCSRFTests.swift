import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests when and how a CSRF token that the server no longer accepts is renewed.
struct StaleCSRFTests {
    @Test(
        arguments: [
            (ScriptedServer.Response(status: 419), []), (.page("CSRF verification failed.", status: 403), []),
            (.json(400, #"{"error":"XSRF cookie does not match"}"#), []), (.page("Invalid Authenticity Token", status: 422), []),
            (.page("Session moved", status: 403), [("csrf-stale", #"403 body:"Session moved""#)]),
            (.init(status: 409), [("csrf-stale", "409")]), (.init(status: 419), [("csrf-stale", "409")]),
            (.json(200, #"{"code":"badtoken"}"#), [("csrf-stale", "json:code=badtoken")]),
            (.page("badtoken"), [("csrf-stale", "200 body:badtoken")]),
        ] as [(ScriptedServer.Response, [(String, String)])])
    func `A stale token is fetched once, and the request is sent once more in the same session`(
        refusal: ScriptedServer.Response, settings: [(String, String)]
    ) async throws {
        for source in ["meta", "cookie"] {
            let site = try CSRFSite()
            site.refuse(with: refusal)
            let session = try site.session([("request-csrf", source), ("request-csrf-page", "/token")] + settings)
            try await session.login()
            let before = site.state.pages
            site.renew()
            #expect(try await session.send("\(site.url)/change") == 200)
            #expect(site.state.pages == before + 1)
            #expect(site.state.logins == 1)
            #expect(site.server.requests.count { $0.target == "/change" } == 2)
            #expect(site.server.requests.last?["Cookie"]?.contains("sid=1") == true)
            #expect(try await session.send("\(site.url)/change") == 200)
            #expect(site.server.requests.count { $0.target == "/change" } == 3)
        }
    }

    /// The page is `request-csrf-page`, `probe`, or `page`.
    @Test(arguments: [[("request-csrf-page", "/a"), ("probe", "/b")], [("probe", "/a"), ("page", "/b")], [("page", "/a")]])
    func `A stale token is fetched from the first page that is set`(settings: [(String, String)]) async throws {
        let site = try CSRFSite()
        let session = try site.session([("request-csrf", "meta")] + settings)
        try await session.login()
        site.renew()
        let before = site.server.requests.count
        #expect(try await session.send("\(site.url)/change") == 200)
        #expect(site.server.requests[before...].map(\.line) == ["POST /change", "GET /a", "POST /change"])
        #expect(site.state.logins == 1)
    }

    @Test(
        arguments: [
            (ScriptedServer.Response.page("not allowed", status: 403), []), (.page("not valid", status: 422), []),
            (.init(status: 400), []),
            (.init(status: 409), [("csrf-stale", "410")]), (.page("csrf", status: 500), []), (.page("csrf is fine"), []),
            (.page("Forbidden<form><input type=hidden name=csrf_token value=xsrf></form>", status: 403), []),
        ] as [(ScriptedServer.Response, [(String, String)])])
    func `Other refusals are returned as they are`(refusal: ScriptedServer.Response, settings: [(String, String)]) async throws {
        let site = try CSRFSite()
        site.refuse(with: refusal)
        let session = try site.session([("request-csrf", "meta"), ("request-csrf-page", "/token")] + settings)
        try await session.login()
        site.renew()
        let before = site.server.requests.count
        #expect(try await session.send("\(site.url)/change") == refusal.status)
        #expect(site.server.requests.count == before + 1)
    }

    /// Only requests that change something have a token, which can be stale.
    @Test(arguments: ["meta", "cookie"])
    func `A GET that is refused with such words is returned`(source: String) async throws {
        let server = try ScriptedServer { request in
            request.target == "/x"
                ? .page("CSRF settings are for administrators", status: 403)
                : .page("<meta name=csrf-token content=t>", "Set-Cookie: sid=1; Path=/", "Set-Cookie: csrftoken=t; Path=/")
        }
        for more in [[], [("probe", "/me")]] {
            let session = try CookieLogins.session(at: server, [("success", "200"), ("request-csrf", source)] + more)
            try await session.login()
            let before = server.requests.count
            #expect(try await session.send("\(server.url)/x", .get) == 403)
            #expect(server.requests[before...].map(\.line) == ["GET /x"])
        }
    }

    @Test(arguments: ["meta", "cookie"])
    func `A server that refuses each token gets the request twice`(source: String) async throws {
        let site = try CSRFSite()
        site.refuse(with: .page("CSRF verification failed", status: 403), stubbornly: true)
        let session = try site.session([("request-csrf", source), ("request-csrf-page", "/token")])
        try await session.login()
        let before = site.state.pages
        #expect(try await session.send("\(site.url)/change") == 403)
        #expect(site.server.requests.count { $0.target == "/change" } == 2)
        #expect(site.state.pages == before + 1)
        #expect(site.state.logins == 1)
        #expect(try await session.tokenStorage.load() != nil)
    }

    /// The site's header has a login form for everybody.
    @Test(arguments: [false, true])
    func `A refusal whose page has the login's form is one of the token if the probe knows the session`(isStubborn: Bool)
        async throws
    {
        let site = try CSRFSite()
        let form = "<form method=post action=/login><input name=username><input type=password name=password></form>"
        site.refuse(with: .page("\(form)Invalid CSRF token", status: 403), stubbornly: isStubborn)
        let session = try site.session([("request-csrf", "meta"), ("request-csrf-page", "/token"), ("probe", "/me")])
        try await session.login()
        site.renew()
        let before = site.server.requests.count
        #expect(try await session.send("\(site.url)/change") == (isStubborn ? 403 : 200))
        #expect(
            site.server.requests[before...].map(\.line) == ["POST /change", "GET /me", "GET /token", "POST /change"])
    }

    /// The last page belonged to the ended session.
    @Test func `After a new login, the token of the session before isn't sent`() async throws {
        let logins = Locked(0)
        let server = try ScriptedServer { request in
            let number = logins.withLock { count in
                if request.line == "POST /login" { count += 1 }
                return count
            }
            let page = "<meta name=csrf-token content=t-\(number)>"
            if request.line == "POST /login" { return .page(page, "Set-Cookie: sid=\(number); Path=/") }
            guard request["Cookie"] == "sid=\(number)" else { return .redirect("/login") }
            if request.method == "GET" { return .page(page) }
            return .init(status: request["X-CSRF-Token"] == "t-\(number)" ? 200 : 403)
        }
        let session = try CookieLogins.session(at: server, [("success", "200"), ("request-csrf", "meta")])
        _ = try await session.send("\(server.url)/page", .get)
        #expect(try await session.send("\(server.url)/change") == 200)
        // The session ends.
        logins.withLock { $0 += 1 }
        #expect(try await session.send("\(server.url)/change") == 200)
        #expect(server.requests.last?["X-CSRF-Token"] == "t-3")
        #expect(server.requests.count { $0.line == "POST /login" } == 2)
    }

    @Test func `50 requests with a stale token fetch one`() async throws {
        let site = try CSRFSite()
        let session = try site.session([("request-csrf", "meta"), ("request-csrf-page", "/token")])
        try await session.login()
        let before = site.state.pages
        site.renew()
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<50 { group.addTask { try await session.send("\(site.url)/change") } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 50))
        #expect(site.state.pages == before + 1)
        #expect(site.state.changes == 50)
        #expect(site.state.logins == 1)
    }

    @Test func `A page for the token that shows the login's form ends the session`() async throws {
        let logins = Locked(0)
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login":
                let number = logins.withLock { count in
                    count += 1
                    return count
                }
                return .page("<meta name=csrf-token content=t-\(number)>", "Set-Cookie: sid=\(number); Path=/")
            case "POST /change": return .init(status: request["Cookie"] == "sid=2" ? 200 : 419)
            default:
                return request["Cookie"] == "sid=2"
                    ? .page("<meta name=csrf-token content=t-2>")
                    : .page("<form><input name=username><input name=password></form>")
            }
        }
        let settings = [("success", "200"), ("request-csrf", "meta"), ("probe", "/me")]
        let session = try CookieLogins.session(at: server, settings)
        try await session.login()
        #expect(try await session.send("\(server.url)/change") == 200)
        #expect(logins.withLock { $0 } == 2)
    }

    /// Servers that check the token first, and issue one even without a login: Laravel's login page, Sanctum's address for the
    /// cookie, and Spring Security's logout page.
    @Test(
        arguments: [
            ([("page", "/login"), ("csrf", "input"), ("csrf-name", "_token")], .redirect("/login"), 3),
            ([("request-csrf", "meta"), ("request-csrf-page", "/token")], .init(status: 401), 3),
            ([("request-csrf", "meta"), ("request-csrf-page", "/token")], .redirect("/login?next=/change"), 3),
        ] as [([(String, String)], ScriptedServer.Response, Int)])
    func `A token that anybody gets doesn't keep a session that has ended`(
        settings: [(String, String)], refusal: ScriptedServer.Response, changes: Int
    ) async throws {
        let users = Locked(0)
        let server = try ScriptedServer { request in
            if request.line == "POST /login" { users.withLock { $0 += 1 } }
            let user = "sid=u\(users.withLock(\.self))"
            let cookie = request.line == "POST /login" ? user : request["Cookie"]
            let isKnown = cookie == user || cookie == "sid=visitor"
            guard request.line != "POST /change" else {
                guard isKnown, request["X-CSRF-Token"] ?? request["X-CSRFToken"] == cookie else { return .init(status: 419) }
                return cookie == user ? .page("changed") : refusal
            }
            // Others begin an anonymous session.
            let owner = cookie == user ? user : "sid=visitor"
            let form = "<input name=username><input type=password name=password>"
            return .page(
                "<meta name=csrf-token content='\(owner)'><form><input type=hidden name=_token value='\(owner)'>"
                    + (request.line == "GET /login" ? form : "") + "</form>", "Set-Cookie: \(owner); Path=/")
        }
        let session = try CookieLogins.session(at: server, [("success", "200 !field:password")] + settings)
        try await session.login()
        _ = try await session.send("\(server.url)/home", .get)
        // The session and its token end.
        users.withLock { $0 += 1 }
        let before = server.requests.count
        let response = try await session.provider().text("\(server.url)/change", .post)
        let lines = server.requests[before...].map(\.line)
        #expect(response == (200, "changed"), "\(lines)")
        #expect(lines.count { $0 == "POST /login" } == 1 && lines.count { $0 == "POST /change" } == changes, "\(lines)")
    }

    /// Such a server reports a wrong token before it looks for the session.
    @Test func `A probe that no longer knows the session ends it, whatever its status`() async throws {
        let logins = Locked(0)
        let server = try ScriptedServer { request in
            let isKnown = request["Cookie"]?.contains("sid=2") == true
            switch request.line {
            case "POST /login":
                let number = logins.withLock { count in
                    count += 1
                    return count
                }
                return .page("Hello", "Set-Cookie: sid=\(number); Path=/", "Set-Cookie: csrftoken=t\(number); Path=/")
            case "POST /change": return isKnown ? .init(status: 204) : .page("CSRF validation failed", status: 400)
            default: return .init(status: isKnown ? 200 : 403)
            }
        }
        let session = try CookieLogins.session(at: server, [("success", "200"), ("request-csrf", "cookie"), ("probe", "/me")])
        try await session.login()
        #expect(try await session.send("\(server.url)/change") == 204)
        #expect(server.requests.map(\.line) == ["POST /login", "POST /change", "GET /me", "POST /login", "POST /change"])
    }

    /// The login has still succeeded: requests that need no token go on.
    @Test func `A page without the token is an error of the requests that need it, and names the page`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/change" ? .init(status: 419) : .page("Hello", "Set-Cookie: sid=1; Path=/")
        }
        let settings = [("success", "200"), ("request-csrf", "meta"), ("request-csrf-page", "/token?a=secret")]
        let session = try CookieLogins.session(at: server, settings)
        try await session.login()
        #expect(try await session.send("\(server.url)/x", .get) == 200)
        let error = await #expect(throws: (any Error).self) { _ = try await session.send("\(server.url)/change") }
        let words = "the page \(server.url)/token has no CSRF token: no meta element named csrf-token (status 200)"
        #expect(error.map { "\($0)" }?.contains(words) == true, "\(String(describing: error))")
    }
}
