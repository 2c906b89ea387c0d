import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Compares with curl's cookie engine which cookies are sent where. Both use the same server as the proxy for every host.
struct CookieAuthScopeTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var login = "http://www.example.com/app/login"
        var lines: [String]
        var urls: [String]
        var testDescription: String { lines.joined(separator: " | ") }
    }

    private static let hosts = [
        "http://www.example.com/app/x", "http://www.example.com/", "http://example.com/app/", "http://sub.www.example.com/app/",
        "http://badexample.com/app/", "http://www.example.com:8080/app/", "http://WWW.Example.com/app/",
    ]
    private static let paths = ["/", "/a", "/a/", "/a/b", "/ab", "/A", "/a%2Fb", "/a/b/c?d", "/b"]
        .map { "http://www.example.com\($0)" }

    static let cases: [Case] =
        [
            Case(lines: ["a=1"], urls: hosts),
            Case(lines: ["a=1; Path=/"], urls: hosts),
            Case(lines: ["a=1; Domain=example.com; Path=/"], urls: hosts),
            Case(lines: ["a=1; Domain=.example.com; Path=/", "b=2; Path=/"], urls: hosts),
            Case(lines: ["a=1; Domain=EXAMPLE.COM; path=/"], urls: hosts),
            Case(lines: ["a=1; Domain=www.example.com; Path=/"], urls: hosts),
            Case(
                lines: ["a=1; Domain=sub.www.example.com; Path=/", "b=2; Domain=other.com; Path=/", "c=3; Path=/"], urls: hosts),
            Case(lines: ["a=1; Domain=com; Path=/", "c=3; Path=/"], urls: hosts),
            Case(lines: ["a=1; Secure; Path=/", "c=3; Path=/"], urls: hosts),
            Case(lines: ["a=1; HttpOnly; SameSite=Strict; Path=/"], urls: hosts),
            Case(lines: ["__Secure-a=1; Path=/", "__Host-b=2; Path=/", "c=3; Path=/"], urls: hosts),
            Case(lines: ["a=1; Max-Age=0; Path=/", "b=2; Max-Age=1000; Path=/", "c=3; Max-Age=-1; Path=/"], urls: hosts),
            Case(
                lines: [
                    "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/", "b=2; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Path=/",
                    "c=3; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Path=/", "d=4; Expires=tomorrow; Path=/",
                ], urls: hosts),
            Case(lines: ["a=\"q, r\"; Path=/", "b=x y; Path=/", "c==; Path=/", "d=; Path=/"], urls: hosts),
            Case(lines: ["a=1; Path=/", "a=2; Path=/", "b=1; Path=/", "b=gone; Max-Age=0; Path=/"], urls: hosts),
            Case(lines: ["a=1; Path=/a"], urls: paths),
            // curl drops the trailing slash, and then also sends the cookie to /a.
            Case(lines: ["a=1; Path=/a/"], urls: paths.filter { !$0.hasSuffix("/a") }),
            Case(lines: ["a=1; Path=/a", "a=2; Path=/a/b", "a=3; Path=/"], urls: paths),
            Case(login: "http://www.example.com/a/login", lines: ["a=1"], urls: paths),
            Case(login: "http://www.example.com/login?x=/a/b", lines: ["a=1"], urls: paths),
        ]
        + [("a.co.uk", "co.uk"), ("me.github.io", "github.io"), ("x.y.ck", "y.ck")].map {
            host, suffix in
            Case(
                login: "http://\(host)/login", lines: ["a=1; Domain=\(suffix); Path=/", "b=2; Path=/"],
                urls: ["http://\(host)/", "http://other.\(suffix)/", "http://sub.\(host)/", "http://\(suffix)/"])
        }

    @Test(arguments: cases)
    func `Each request gets the cookies that curl would send`(test: Case) async throws {
        let server = try ScriptedServer { request in
            .init(headers: request.target == test.login ? test.lines.map { "Set-Cookie: \($0)" } : [])
        }
        let transport = CurlSession(CurlSession.Configuration(proxy: ProxySettings(url: server.url)))
        let session = try CookieLogins.session(
            [("login", test.login), ("username", "u"), ("password", "p")], transport: transport)
        try await session.login()
        let provider = session.provider(transport)
        for url in test.urls { #expect(try await provider.text(url).status == 200) }
        let own = server.requests.dropFirst().map(Self.cookies)

        let before = server.requests.count
        _ = try Command.output(
            ["curl", "--silent", "--fail", "--path-as-is", "--proxy", server.url, "--cookie", ""] + ([test.login] + test.urls))
        let judge = server.requests.dropFirst(before + 1).map(Self.cookies)
        #expect(judge.count == test.urls.count)
        for (url, (own, judge)) in zip(test.urls, zip(own, judge)) { #expect(own == judge, "\(url)") }
    }

    /// Ignores the order: for paths of the same length, curl's differs from the RFC's.
    private static func cookies(_ request: ScriptedServer.Request) -> [String] {
        (request["Cookie"] ?? "").split(separator: "; ").map(String.init).sorted()
    }

    /// Cases in which curl departs from RFC 6265.
    @Test(arguments: [
        // §5.3 step 5: a host that is a public suffix gets a host-only cookie.
        ("http://github.io/login", "a=1; Domain=github.io; Path=/", "http://me.github.io/", false),
        ("http://github.io/login", "a=1; Domain=github.io; Path=/", "http://github.io/", true),
        // §5.2.4: an invalid path is replaced by the default.
        ("http://h.example/a/login", "a=1; Path=relative", "http://h.example/", false),
        ("http://h.example/a/login", "a=1; Path=relative", "http://h.example/a/b", true),
        // §5.1.4: /a is not below /a/.
        ("http://h.example/login", "a=1; Path=/a/", "http://h.example/a", false),
        ("http://h.example/login", "a=1; Path=/a/", "http://h.example/a/", true),
        // The path is matched in the form in which a server resolves it.
        ("http://h.example/login", "a=1; Path=/a", "http://h.example/a/../b", false),
        ("http://h.example/login", "a=1; Path=/a", "http://h.example/b/%2e%2E/a", true),
    ])
    func `Each request gets the cookies that RFC 6265 allows`(login: String, line: String, url: String, isSent: Bool) async throws
    {
        let server = try ScriptedServer { .init(headers: $0.target == login ? ["Set-Cookie: \(line)"] : []) }
        let transport = CurlSession(CurlSession.Configuration(proxy: ProxySettings(url: server.url)))
        let session = try CookieLogins.session([("login", login), ("username", "u"), ("password", "p")], transport: transport)
        try await session.login()
        _ = try await session.provider(transport).text(url)
        #expect(server.requests.last?["Cookie"] == (isSent ? "a=1" : nil))
    }

    @Test func `Cookies are sent with longer paths first, then in the order of creation`() async throws {
        let lines = ["root=1; Path=/", "deep=2; Path=/a/b", "shallow=3; Path=/a", "deep2=4; Path=/a/b", "root=5; Path=/"]
        let server = try ScriptedServer { request in
            .init(headers: request.target == "/login" ? lines.map { "Set-Cookie: \($0)" } : [])
        }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "p")])
        try await session.login()
        _ = try await session.provider().text("\(server.url)/a/b/c")
        #expect(server.requests.last?["Cookie"] == "deep=2; deep2=4; shallow=3; root=5")
    }

    /// Draft 6265bis §5.7.
    @Test(arguments: [("safe=evil", "wide=3"), ("other=1", "wide=3; other=1")])
    func `A cookie set over HTTP doesn't shadow a secure one`(line: String, sent: String) async throws {
        let server = try ScriptedServer { _ in .init(headers: ["Set-Cookie: \(line)"]) }
        let transport = CurlSession(CurlSession.Configuration(proxy: ProxySettings(url: server.url)))
        let session = try CookieLogins.session([("login", "https://h.example/login")], transport: transport)
        let stored = IssuedToken(
            bytes: Secret("1\nhs\t\th.example\t/\tsafe\t1\nh\t\th.example\t/\twide\t3\n"), expiresAt: nil, account: "")
        try await session.tokenStorage.save(session.token(stored))
        for _ in 0..<2 { _ = try await session.provider(transport).text("http://h.example/") }
        #expect(server.requests.last?["Cookie"] == sent)
    }

    /// Attributes for TLS and time, which a plain-text proxy can't test.
    @Test func `Secure cookies are sent over TLS alone, and none after its expiry`() throws {
        let seconds = Locked<Int64>(1_000)
        let instance = try CookieLogins.plugin.get().scheme().makeInstance(
            settings: ["login": "https://h.example/login"], clock: HostClock { seconds.withLock { $0 } * 1_000_000_000 })
        let cookies = ["hs\t\th.example\t/\tsafe\t1", "h\t2000\th.example\t/\tshort\t2", "\t\th.example\t/\twide\t3"]
        let bytes = Secret("1\n\(cookies.joined(separator: "\n"))\n")
        let token = PluginToken(IssuedToken(bytes: bytes, expiresAt: nil, account: ""), of: instance)
        func sent(_ url: String) throws -> String? {
            var request = try HTTPRequest(.get, url)
            try token.authorize(&request)
            return request.headers["Cookie"]
        }
        #expect(try sent("https://h.example/") == "safe=1; short=2; wide=3")
        #expect(try sent("http://h.example/") == "short=2; wide=3")
        #expect(try sent("https://www.h.example/") == "wide=3")
        #expect(try sent("https://other.example/") == nil)
        seconds.withLock { $0 = 2000 }
        #expect(try sent("https://h.example/") == "safe=1; wide=3")
    }
}
