import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the logout: what it sends, when it has succeeded, and that the server has forgotten the session.
struct CookieLogoutTests {
    /// A site whose logout ends the session, unless the test says that it forgets nothing.
    private static func server(
        forgets: Bool = true, _ response: ScriptedServer.Response = .init(status: 204)
    ) throws -> ScriptedServer {
        let isLoggedIn = Locked(false)
        return try ScriptedServer { request in
            isLoggedIn.withLock { isLoggedIn in
                switch request.path {
                case "/login":
                    isLoggedIn = true
                    return .page(
                        "<meta name=csrf-token content=t-login>", "Set-Cookie: sid=1; Path=/", "Set-Cookie: csrftoken=c; Path=/")
                case "/out":
                    if forgets { isLoggedIn = false }
                    var response = response
                    response.headers.append("Set-Cookie: sid=; Max-Age=0; Path=/")
                    return response
                case "/confirm":
                    return .page(
                        """
                        <meta name=csrf-token content=t-confirm><form action=/search><input type=hidden name=no value=1></form>
                        <form method=post action='/out?all=1'><input type=hidden name=token value=t>
                        <button name=go value=1>Log out</form>
                        """)
                case "/menu":
                    return .page("<base href=/account/><a href=/outer>No</a><a href='../out?nonce=n&amp;x=1'>Log out</a>")
                case "/me" where isLoggedIn && request["Cookie"]?.contains("sid=1") == true: return .page("Ada")
                case "/me": return .redirect("/login?next=/me")
                default: return .page("Hello")
                }
            }
        }
    }

    private func logOut(_ server: ScriptedServer, _ settings: [(String, String)]) async throws -> [ScriptedServer.Request] {
        let session = try CookieLogins.session(
            at: server, [("success", "200")] + (settings.contains { $0.0 == "logout" } ? [] : [("logout", "/out")]) + settings)
        try await session.login()
        let before = server.requests.count
        defer { #expect(server.requests.count > before) }
        let result: Result<Void, any Error>
        do { result = .success(try await session.logout()) } catch { result = .failure(error) }
        #expect(try await session.tokenStorage.load() == nil)
        try result.get()
        return Array(server.requests[before...])
    }

    private func failure(_ server: ScriptedServer, _ settings: [(String, String)] = []) async throws -> String {
        let error = try await #require(throws: PluginError.self) { _ = try await logOut(server, settings) }
        guard case .failed(_, _, let status, _, let message, _) = error.reason else { return "\(error)" }
        #expect(status == PluginStatus.unavailable.rawValue)
        return message
    }

    @Test(arguments: ["GET", "POST", "DELETE", "PUT", "PATCH"])
    func `Any method logs out`(method: String) async throws {
        let requests = try await logOut(
            Self.server(), [("logout-method", method), ("logout-field", "everywhere=yes"), ("request-csrf", "cookie")])
        #expect(requests.map(\.line) == ["\(method) /out\(method == "GET" ? "?everywhere=yes" : "")"])
        #expect(requests[0]["Cookie"] == "sid=1; csrftoken=c")
        #expect(requests[0].text == (method == "GET" ? "" : "everywhere=yes"))
        #expect(requests[0]["X-CSRFToken"] == (method == "GET" ? nil : "c"))
    }

    @Test(arguments: ["", "PO ST", "GET\r\n"])
    func `A malformed method is refused`(method: String) throws {
        let error = try #require(throws: PluginError.self) {
            try CookieLogins.instance([("login", "http://h/login"), ("logout", "http://h/out"), ("logout-method", method)])
        }
        #expect("\(error)".contains("logout-method"))
    }

    @Test func `A logout as JSON sends its fields as JSON`() async throws {
        let requests = try await logOut(
            Self.server(), [("format", "json"), ("logout-method", "DELETE"), ("logout-field", "all=1")])
        #expect(requests[0].text == #"{"all":"1"}"#)
    }

    @Test func `The form of the logout's page is sent`() async throws {
        let requests = try await logOut(
            Self.server(), [("logout", "/out?all=1"), ("logout-page", "/confirm"), ("logout-field", "extra=2")])
        #expect(requests.map(\.line) == ["GET /confirm", "POST /out?all=1"])
        #expect(requests[1].text == "token=t&go=1&extra=2")
        #expect(requests[1]["Referer"]?.hasSuffix("/confirm") == true)
    }

    /// The site routes by the query, and another form of the page may delete the account.
    @Test func `Another form of the page is not the logout's`() async throws {
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login": .page("Hello", "Set-Cookie: sid=1; Path=/")
            case "GET /index.php?do=account":
                .page(
                    """
                    <form method=post action='index.php?do=delete'><input type=hidden name=token value=1><button>Delete</form>
                    <form method=post action='index.php'><input type=hidden name=token value=2><button>Search</form>
                    <form method=post action='index.php'><input type=hidden name=do value=out>
                    <input type=hidden name=token value=3><button>Log out</form>
                    """)
            default: .page("Hello")
            }
        }
        let requests = try await logOut(server, [("logout", "/index.php?do=out"), ("logout-page", "/index.php?do=account")])
        #expect(requests.map(\.line) == ["GET /index.php?do=account", "POST /index.php"])
        #expect(requests.last?.text == "do=out&token=3")
    }

    /// The session's own token may be older than the server's.
    @Test func `A logout whose token is stale is sent once more with another one`() async throws {
        let tokens = Locked(0)
        let server = try ScriptedServer { request in
            let latest = tokens.withLock { count in
                if request.line == "GET /token" { count += 1 }
                return count
            }
            return switch request.line {
            case "POST /login": .page("Hello", "Set-Cookie: sid=1; Path=/")
            case "GET /token": .page("<meta name=csrf-token content=\(latest)>")
            default: .init(status: request["X-CSRF-Token"] == "2" ? 204 : 419)
            }
        }
        let settings = [("request-csrf", "meta"), ("request-csrf-page", "/token")]
        // The login fetches the first one.
        let requests = try await logOut(server, settings)
        #expect(requests.map(\.line) == ["POST /out", "GET /token", "POST /out"])
    }

    /// With the login's token, which the logout sends first, and without one.
    @Test(arguments: [true, false], [true, false])
    func `A session that has ended by itself is logged out if the probe says so`(knows: Bool, hasToken: Bool) async throws {
        let pages = Locked(0)
        let server = try ScriptedServer { request in
            let count = pages.withLock { count in
                if request.line == "GET /token" { count += 1 }
                return count
            }
            return switch request.line {
            case "POST /login": .page("Hello", "Set-Cookie: sid=1; Path=/")
            case "POST /out": .init(status: 419)
            case "GET /me": knows ? .page("Ada") : .redirect("/login")
            case "GET /token": hasToken && count == 1 ? .page("<meta name=csrf-token content=t>") : .redirect("/login")
            default: .page("<form><input name=username><input name=password></form>", status: 403)
            }
        }
        let settings = [("request-csrf", "meta"), ("request-csrf-page", "/token"), ("probe", "/me")]
        if knows {
            #expect(try await failure(server, settings).contains("the server still knows the session"))
        } else {
            let paths = try await logOut(server, settings).map(\.path)
            #expect(paths == (hasToken ? ["/out"] : []) + ["/token", "/login", "/me", "/login"])
        }
    }

    @Test func `The link of a page logs out with its nonce`() async throws {
        let requests = try await logOut(Self.server(), [("logout-method", "GET"), ("logout-page", "/menu")])
        #expect(requests.map(\.line) == ["GET /menu", "GET /out?nonce=n&x=1"])
    }

    @Test func `The token of the logout's page is sent`() async throws {
        let requests = try await logOut(Self.server(), [("logout-page", "/confirm"), ("request-csrf", "meta")])
        #expect(requests.last?["X-CSRF-Token"] == "t-confirm")
    }

    @Test func `The token of the session is sent`() async throws {
        let requests = try await logOut(Self.server(), [("request-csrf", "meta")])
        #expect(requests.map(\.line) == ["POST /out"])
        #expect(requests[0]["X-CSRF-Token"] == "t-login")
    }

    @Test(arguments: [(200, true), (204, true), (302, true), (401, true), (400, false), (403, false), (404, false), (500, false)])
    func `Without a sign, the status decides`(status: Int, isLoggedOut: Bool) async throws {
        let server = try Self.server(.init(status: status, headers: status == 302 ? ["Location: /"] : []))
        if isLoggedOut {
            _ = try await logOut(server, [])
        } else {
            #expect(try await failure(server) == "the server did not log out (status \(status))")
        }
    }

    @Test(arguments: [
        ("302", false), ("status:2xx", true), ("body:Goodbye", true), ("body:Sorry", false), ("deleted:sid", true),
        ("deleted:other", false), ("200 !body:Sorry", true),
    ])
    func `A sign of success decides`(sign: String, isLoggedOut: Bool) async throws {
        let server = try Self.server(.page("<p>Goodbye</p>"))
        if isLoggedOut {
            _ = try await logOut(server, [("logout-success", sign)])
        } else {
            #expect(try await failure(server, [("logout-success", sign)]) == "the server did not log out (status 200)")
        }
    }

    @Test func `The server's words are in the error`() async throws {
        let server = try Self.server(.page("<div class=alert>Your form has expired.</div>", status: 422))
        #expect(try await failure(server) == "the server did not log out (status 422), saying \"Your form has expired.\"")
    }

    // MARK: The server's memory

    @Test(arguments: ["GET", "POST"])
    func `After the logout, the cookies from before are tried`(method: String) async throws {
        let requests = try await logOut(Self.server(), [("probe", "/me"), ("logout-method", method)])
        #expect(requests.map(\.line) == ["\(method) /out", "GET /me", "GET /login?next=/me"])
        #expect(requests[1]["Cookie"] == "sid=1; csrftoken=c")
    }

    @Test func `A server that still lets the cookies in is told`() async throws {
        let message = try await failure(Self.server(forgets: false), [("probe", "/me")])
        #expect(message.hasPrefix("the server still knows the session: /me accepts its cookies (status 200)"), "\(message)")
    }

    @Test func `A server in trouble isn't taken for one that forgot`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/me" ? .init(status: 503) : .page("Hello", "Set-Cookie: sid=1; Path=/")
        }
        #expect(try await failure(server, [("probe", "/me")]).contains("can't say now whether the session is valid (status 503)"))
    }

    /// A single sign-on that asks for a login looks like an ended session.
    @Test func `A probe that redirects to another origin lets nobody in`() async throws {
        let isOver = Locked(false)
        let server = try ScriptedServer { request in
            if request.target == "/out" { isOver.withLock { $0 = true } }
            return request.target == "/me" && isOver.withLock { $0 }
                ? .redirect("https://sso.example/") : .page("Hello", "Set-Cookie: sid=1; Path=/")
        }
        let requests = try await logOut(server, [("probe", "/me")])
        #expect(requests.map(\.line) == ["POST /out", "GET /me"])
    }

    @Test func `Without an address, a logout sends nothing`() async throws {
        let server = try Self.server()
        let session = try CookieLogins.session(at: server, [("success", "200"), ("probe", "/me")])
        try await session.login()
        let before = server.requests.count
        try await session.logout()
        #expect(server.requests.count == before)
        #expect(try await session.tokenStorage.load() == nil)
    }
}
