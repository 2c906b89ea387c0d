import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests servers that respond to a login with something unexpected. The login ends with a clear error or a correct jar.
struct HostileLoginTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var response: ScriptedServer.Response
        var settings: [(String, String)] = []
        var status = PluginStatus.unavailable
        var words: String
        var testDescription: String { name }
    }

    private static let page = "Content-Type: text/html; charset=utf-8"
    private static let json = "Content-Type: application/json"
    private static let cookie = "Set-Cookie: sid=1"

    static let cases = [
        Case(
            name: "an error page without a cookie", response: .init(headers: [page], body: "<h1>Sorry</h1>"),
            words: "the server set no valid cookie (status 200)"),
        Case(
            name: "an error page without the session's cookie",
            response: .init(headers: [page, "Set-Cookie: visitor=7"], body: "Sorry"),
            settings: [("session-cookie", "sid")], words: "the server set no valid cookie sid (status 200)"),
        Case(
            name: "a page for JSON", response: .init(headers: [page, cookie], body: "<h1>Welcome to our wireless network</h1>"),
            settings: [("format", "json")], words: "the server responded with a page instead of JSON (status 200)"),
        Case(
            name: "truncated JSON", response: .init(headers: [json, cookie], body: #"{"ok":tr"#), settings: [("format", "json")],
            words: "the server's response (status 200) is not valid JSON: expected a JSON value at byte 6"),
        Case(
            name: "deep JSON", response: .init(headers: [json, cookie], body: String(repeating: "[", count: 100_000)),
            words: "is not valid JSON: nested too deeply"),
        Case(
            name: "another origin", response: .init(status: 302, headers: [cookie, "Location: https://evil.example/next?a=b"]),
            words: "the server redirected to another origin, https://evil.example; nothing was sent there"),
        Case(
            name: "another origin without a scheme", response: .init(status: 303, headers: [cookie, "Location: //evil.example"]),
            words: "to another origin, http://evil.example; nothing"),
        Case(
            name: "no address", response: .init(status: 302, headers: [cookie, "Location: javascript:alert(1)"]),
            words: "redirected the login without a valid address (status 302)"),
        Case(
            name: "no Location", response: .init(status: 302, headers: [cookie]),
            words: "redirected the login without a valid address (status 302)"),
        Case(
            name: "moved", response: .init(status: 308, headers: [cookie, "Location: /signin?secret"]),
            words: "/signin (status 308); set login to that"),
        Case(
            name: "back to the login page", response: .init(status: 302, headers: [cookie, "Location: ./login?error"]),
            status: .denied, words: "the server led back to the login page: is the user name or the password wrong?"),
        Case(name: "down", response: .init(status: 503, headers: [cookie]), words: "can't log in users now (status 503)"),
        Case(name: "busy", response: .init(status: 429, headers: [cookie]), words: "can't log in users now (status 429)"),
        Case(name: "not there", response: .init(status: 404, headers: [cookie]), words: "can't log in users now (status 404)"),
        Case(
            name: "refused", response: .init(status: 422, headers: [cookie]), status: .denied,
            words: "the server refused (status 422): is the user name or the password wrong?"),
        Case(
            name: "not the status", response: .init(status: 200, headers: [cookie]), settings: [("success", "302")],
            status: .denied, words: "the response has no sign of success (status 200)"),
        Case(
            name: "cookies that it may not set",
            response: .init(headers: [
                "Set-Cookie: a=1; Domain=com", "Set-Cookie: b=1; Domain=evil.example", "Set-Cookie: c=1; Domain=0.0.1",
                "Set-Cookie: d=1; Secure", "Set-Cookie: __Host-e=1; Path=/", "Set-Cookie: =f", "Set-Cookie: g",
                "Set-Cookie: h=\(String(repeating: "x", count: 4097))", "Set-Cookie: i=1; Max-Age=0",
                "Set-Cookie: j=a\tb", "Set-Cookie: k\tl=1", "Set-Cookie: m=1; Path=/a\tb",
            ]), words: "the server set no valid cookie (status 200)"),
    ]

    @Test(arguments: cases)
    func `Every malformed login response is a clear error`(test: Case) async throws {
        let server = try ScriptedServer { _ in test.response }
        let settings = [("login", "\(server.url)/login"), ("username", "u"), ("password", "p")] + test.settings
        let failure = try await CookieLogins.failure(of: CookieLogins.session(settings))
        #expect(failure.status == test.status)
        #expect(failure.message.contains(test.words), "\(failure.message)")
        #expect(server.requests.count { $0.method == "POST" } == 1)
        #expect(server.requests.count <= 8)
    }

    @Test(arguments: [(1024, true), (1025, false)])
    func `A path has 1024 bytes`(count: Int, isKept: Bool) async throws {
        let server = try ScriptedServer { _ in .init(headers: [Self.cookie]) }
        let login = "\(server.url)/\(String(repeating: "p", count: count - 1))/login"
        let session = try CookieLogins.session([("login", login), ("username", "u"), ("password", "p")])
        if isKept {
            try await session.login()
        } else {
            #expect(try await CookieLogins.failure(of: session).message.contains("set no valid cookie"))
        }
    }

    #if NEVOD_ADDRESS_SANITIZER || NEVOD_THREAD_SANITIZER
        /// There, the search takes seconds, the maximum for a plugin's call.
        private static let repetitions = 5000
    #else
        private static let repetitions = 50_000
    #endif

    /// Tests the size limit of a page that is searched for a token.
    @Test(arguments: [
        ("<input name=other value=1>", "has no CSRF token: no input named csrfmiddlewaretoken (status 200)"),
        (String(repeating: "<input name=\"", count: repetitions), "has no CSRF token"),
        (String(repeating: "<!--", count: 2 * repetitions), "has no CSRF token"),
        (String(repeating: "<input a", count: repetitions), "has no CSRF token"),
        (String(repeating: "<script", count: repetitions) + " ", "has no CSRF token"),
    ])
    func `A page with random content is requested once`(body: String, words: String) async throws {
        let server = try ScriptedServer { _ in .init(headers: [Self.page], body: body) }
        let settings = [("login", "\(server.url)/login"), ("username", "u"), ("password", "p"), ("csrf", "input")]
        let failure = try await CookieLogins.failure(of: CookieLogins.session(settings))
        #expect(failure.message.contains(words))
        #expect(server.requests.map(\.method) == ["GET"])
    }

    @Test func `A cookie of the CSRF token alone is no session`() async throws {
        let server = try ScriptedServer { _ in .init(headers: [Self.page, "Set-Cookie: csrftoken=t"]) }
        let settings = [("login", "\(server.url)/login"), ("username", "u"), ("password", "p"), ("csrf", "cookie")]
        let failure = try await CookieLogins.failure(of: CookieLogins.session(settings))
        #expect(failure.message.hasPrefix("the server set no valid cookie (status 200); if the login succeeded, set probe"))
        #expect(server.requests.map(\.method) == ["GET", "POST"])
    }

    @Test func `Login pages that redirect endlessly, or to another origin, are refused`() async throws {
        let server = try ScriptedServer { request in
            .init(status: 302, headers: ["Location: \(request.target == "/away" ? "http://evil.example/" : "/login")"])
        }
        for (page, words) in [("/login", "redirects too often"), ("/away", "to another origin, http://evil.example;")] {
            let settings = [
                ("login", "\(server.url)/login"), ("page", "\(server.url)\(page)"), ("username", "u"), ("password", "p"),
                ("csrf", "cookie"),
            ]
            let failure = try await CookieLogins.failure(of: CookieLogins.session(settings))
            #expect(failure.message.contains(words))
        }
        #expect(server.requests.count <= 8)
    }

    @Test func `A thousand cookies leave fifty, in a token that fits`() async throws {
        let lines = (0..<1000).map { "Set-Cookie: c\($0)=\(String(repeating: "v", count: 100))" }
        let server = try ScriptedServer { _ in .init(headers: lines) }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        try await session.login()
        _ = try await session.provider().text("\(server.url)/x")
        let sent = try #require(server.requests.last?["Cookie"]).split(separator: "; ").map { $0.split(separator: "=")[0] }
        #expect(sent.map(String.init) == (950..<1000).map { "c\($0)" })
    }

    @Test func `A session cookie that a flood of cookies evicts is noticed`() async throws {
        let lines = (0..<1000).map { "Set-Cookie: c\($0)=v" }
        let server = try ScriptedServer { _ in .init(headers: lines) }
        let settings = [("login", "\(server.url)/login"), ("username", "u"), ("password", "p"), ("session-cookie", "c0")]
        let failure = try await CookieLogins.failure(of: CookieLogins.session(settings))
        #expect(failure.message == "the server set no valid cookie c0 (status 200)")
    }

    @Test func `Fifty cookies of maximum size exceed a token, and the oldest are dropped`() async throws {
        let lines = (0..<50).map { "Set-Cookie: c\($0)=\(String(repeating: "v", count: 4000))" }
        let server = try ScriptedServer { request in request.target == "/login" ? .init(headers: lines) : .init() }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        try await session.login()
        let bytes = try #require(try await session.tokenStorage.load()).issued.bytes
        #expect(bytes.count < 64 << 10)
        _ = try await session.provider().text("\(server.url)/x")
        let sent = try #require(server.requests.last?["Cookie"]).split(separator: "; ").map { $0.split(separator: "=")[0] }
        #expect(sent.map(String.init) == (35..<50).map { "c\($0)" })
    }

    /// Tests a sliding session: only relevant changes are stored.
    @Test func `An expiry that moves slightly is not saved`() async throws {
        let lines = Collected<String>()
        let server = try ScriptedServer { request in
            .init(
                headers: request.target == "/login" ? ["Set-Cookie: sid=1; Max-Age=1000"] : lines.values.last.map { [$0] } ?? [])
        }
        let storage = InMemoryStorage()
        let session = try CookieLogins.session(
            [("login", "\(server.url)/login"), ("username", "u"), ("password", "p"), ("session-cookie", "sid")], storage: storage)
        try await session.login()
        let provider = session.provider()
        let key = session.key
        func stored(after line: String) async throws -> Bool {
            let before = storage.data(for: key)
            lines.append("Set-Cookie: \(line)")
            _ = try await provider.text("\(server.url)/x")
            return storage.data(for: key) != before
        }
        #expect(try await !stored(after: "sid=1; Max-Age=1000"))
        #expect(try await !stored(after: "sid=1; Max-Age=1080"))
        #expect(try await stored(after: "sid=1; Max-Age=1200"))
        #expect(try await stored(after: "sid=2; Max-Age=1200"))
        #expect(try await stored(after: "sid=2"))
        #expect(try await stored(after: "sid=3"))
        #expect(try await session.tokenStorage.load()?.expiresAt == nil)
        #expect(try await stored(after: "other=1"))
        #expect(try await stored(after: "other=; Max-Age=0"))
        #expect(server.requests.last?["Cookie"] == "sid=3; other=1")
        #expect(server.requests.filter { $0.target == "/login" }.count == 1)
    }

    @Test func `A response to a request without cookies doesn't change the session`() async throws {
        let server = try ScriptedServer { _ in .init(headers: ["Set-Cookie: sid=1"]) }
        let proxy = try ScriptedServer { _ in .init(headers: ["Set-Cookie: sid=theirs", "Set-Cookie: more=1"]) }
        let transport = CurlSession(CurlSession.Configuration(proxy: ProxySettings(url: proxy.url)))
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        try await session.login()
        let before = try await session.tokenStorage.load()?.issued.bytes
        _ = try await session.provider(transport).text("http://other.example/")
        let after = try await session.tokenStorage.load()?.issued.bytes
        #expect(before == after)
        #expect(proxy.requests.last.map { $0["Cookie"] == nil } == true)
    }

    @Test func `Stored bytes that are no cookie jar lead to a login`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/login"
                ? .init(headers: ["Set-Cookie: sid=1"]) : .init(status: request["Cookie"] == nil ? 401 : 200)
        }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        let rest = ["h\t\th\t/\ta", "x\t\th\t/\ta\tb", "h\tsoon\th\t/\ta\tb", "h\t\th\tp\ta\tb", "h\t\t\t/\ta\tb"]
        let damaged = ["2\n", "1", "1\nh\t\th\t/\ta\tb"] + rest.map { "1\n\($0)\n" }
        for (index, bytes) in damaged.enumerated() {
            let stored = IssuedToken(bytes: Secret(bytes), expiresAt: nil, account: "")
            try await session.tokenStorage.save(session.token(stored))
            #expect(try await session.provider().text("\(server.url)/x").status == 200, "\(bytes)")
            #expect(server.requests.count { $0.target == "/login" } == index + 1)
            #expect(server.requests.last?["Cookie"] == "sid=1")
        }
    }
}
