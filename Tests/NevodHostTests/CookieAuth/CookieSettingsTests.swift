import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests which settings are rejected, and what the others send.
struct CookieSettingsTests {
    @Test(arguments: [
        ("login", "https://münchen.example/login", "must have an international name in its ASCII form, xn--…"),
        ("mfa", "https://münchen.example/login", "must have an international name in its ASCII form, xn--…"),
        ("password-field", "", "must not be empty or the same as the user name's"),
        ("password-field", "username", "must not be empty or the same as the user name's"),
        ("password", "", "must not be empty; leave it out to be asked for it"),
        ("field", "remember", "must be NAME=VALUE"), ("field", "=1", "must be NAME=VALUE"),
        ("session-cookie", "a=b", "must be the name of a cookie"), ("session-cookie", "", "must be the name of a cookie"),
        ("csrf-name", "t", "has no meaning without csrf"), ("csrf-header", "X", "has no meaning without csrf"),
        ("csrf-field", "t", "has no meaning without csrf"),
        ("probe-success", "200", "has no meaning without probe"), ("logout-field", "all", "must be NAME=VALUE"),
        ("logout-field", "all=1", "has no meaning without logout"), ("logout-success", "200", "has no meaning without logout"),
        ("logout-page", "http://h/out", "has no meaning without logout"),
        ("header", "Host: other.example", "must be another header: this one is the host's own"),
        ("login-header", "content-length: 3", "must be another header: this one is the host's own"),
    ])
    func `Invalid settings are refused by name`(name: String, value: String, words: String) throws {
        try check([(name, value)], name, words)
    }

    @Test func `Settings that contradict each other are refused`() throws {
        try check([("csrf", "cookie"), ("csrf-header", "X:")], "csrf-header", "must be a header's name")
        try check(
            [("csrf", "cookie"), ("csrf-header", "TE")], "csrf-header", "must be another header: this one is the host's own")
        try check([("csrf", "cookie"), ("csrf-name", "")], "csrf-name", "must not be empty")
        let mfa = ("mfa", "http://h/mfa")
        try check([mfa, ("mfa-code", "")], "mfa-code", "must not be empty")
        try check([mfa, ("mfa-field", "a")], "mfa-field", "must be NAME=VALUE")
        try check([("username-field", ""), ("username", "u")], "username", "has no meaning with an empty username-field")
        try check([("csrf", "json")], "csrf-name", "is missing: the member's name")
        try check([("csrf", "text")], "csrf-name", "is missing: the text around the token, BEFORE*AFTER")
        for name in ["token", "*token"] {
            try check([("csrf", "text"), ("csrf-name", name)], "csrf-name", "must be BEFORE*AFTER, the text around the token")
        }
    }

    /// A sign replaces each of these, so an old profile must not continue without its rule.
    @Test(arguments: ["success-status", "mfa-status"])
    func `Settings of before are unknown`(name: String) throws {
        #expect(throws: PluginError.self) { try CookieLogins.instance([("login", "http://h/login"), (name, "302")]) }
    }

    private func check(_ settings: [(String, String)], _ subject: String, _ words: String) throws {
        let login = settings.contains { $0.0 == "login" } ? [] : [("login", "http://h/login")]
        let error = try #require(throws: PluginError.self) { try CookieLogins.instance(login + settings) }
        guard case .failed("cookie", "create", 1, subject, words, nil) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    private let server: ScriptedServer

    init() throws {
        server = try ScriptedServer { request in
            switch request.target {
            case "/start": .init(status: 302, headers: ["Location: form", "Set-Cookie: first=1"])
            case "/form":
                .init(
                    headers: ["Content-Type: text/html", "Set-Cookie: t%=a%2Fb%zz%3D", "X-Token: from-header"],
                    body: """
                        <!-- <input name=t value=comment> --><script>"<input name=t value=script>"</script>
                        <INPUT type='hidden' value = 'a&amp;b&quot;&#x27;&unknown;' NAME=t><input name=t value=second>
                        <input name=mark value="a&amp;\u{301}&\u{301}amp;">
                        """)
            case "/login", "/deep/login": .init(headers: ["Set-Cookie: sid=1; Path=/"])
            default: .init()
            }
        }
    }

    private func logIn(_ more: [(String, String)]) async throws -> [ScriptedServer.Request] {
        let session = try CookieLogins.session(
            [("login", "\(server.url)/login"), ("username", "ada & co"), ("password", "p=1&é")] + more)
        try await session.login()
        try await session.logout()
        return server.requests
    }

    @Test func `The names of the form's fields can be set`() async throws {
        let requests = try await logIn([
            ("username-field", "user[name]"), ("password-field", "pw"), ("field", "remember=yes"), ("field", "empty="),
        ])
        let body = try #require(requests.first).body
        #expect(
            String(decoding: body, as: UTF8.self)
                == "remember=yes&empty=&user%5Bname%5D=ada+%26+co&pw=p%3D1%26%C3%A9")
        #expect(requests.count == 1)
        #expect(requests[0]["Origin"] == nil)
    }

    @Test func `The login can be sent as JSON`() async throws {
        let requests = try await logIn([("format", "json"), ("field", "remember=yes")])
        #expect(
            String(decoding: try #require(requests.first).body, as: UTF8.self)
                == #"{"remember":"yes","username":"ada & co","password":"p=1&é"}"#)
        #expect(requests[0]["Content-Type"] == "application/json")
    }

    // With an explicit type, which the compiler would take seconds to infer.
    private static let tokens: [([String: String], String?, String?, String)] = [
        (["csrf": "cookie", "csrf-name": "t%"], "X-CSRFToken", "a/b%zz=", ""),
        (["csrf": "cookie", "csrf-name": "t%", "csrf-field": "c"], nil, nil, "&c=a%2Fb%25zz%3D"),
        (["csrf": "header", "csrf-name": "x-token"], "X-Token", "from-header", ""),
        (["csrf": "input", "csrf-name": "t"], nil, nil, "&t=a%26b%22%27%26unknown%3B"),
        // Combining marks that attach to the characters of a reference.
        (["csrf": "input", "csrf-name": "mark"], nil, nil, "&mark=a%26%CC%81%26%CC%81amp%3B"),
        (["csrf": "input", "csrf-name": "t", "csrf-header": "X-T"], "X-T", #"a&b"'&unknown;"#, ""),
    ]

    @Test(arguments: tokens)
    func `The CSRF token of the page is sent with the login`(
        settings: [String: String], header: String?, value: String?, field: String
    ) async throws {
        let page = "\(server.url)/start"
        let requests = try await logIn([("page", page)] + settings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        #expect(requests.map(\.target) == ["/start", "/form", "/login"])
        #expect(requests[1]["Cookie"] == "first=1")
        let login = requests[2]
        #expect(login["Cookie"] == "first=1; t%=a%2Fb%zz%3D")
        if let header { #expect(login[header] == value) }
        #expect(String(decoding: login.body, as: UTF8.self) == "username=ada+%26+co&password=p%3D1%26%C3%A9\(field)")
        #expect(login["Origin"] == server.url)
        #expect(login["Referer"] == "\(server.url)/form")
    }

    @Test func `Logout can use GET, and its failure is an error`() async throws {
        let requests = try await logIn([("logout", "\(server.url)/out?x"), ("logout-method", "GET")])
        #expect(requests.map { "\($0.method) \($0.target) \($0["Cookie"] ?? "-")" } == ["POST /login -", "GET /out?x sid=1"])
        #expect(requests[1].body.isEmpty)

        let refusing = try ScriptedServer { .init(status: $0.target == "/login" ? 200 : 500, headers: ["Set-Cookie: sid=1"]) }
        let session = try CookieLogins.session(
            [("login", "\(refusing.url)/login"), ("username", "u"), ("password", "p"), ("logout", "\(refusing.url)/out")])
        try await session.login()
        let error = try await #require(throws: PluginError.self) { try await session.logout() }
        #expect(error.description.contains("the server did not log out (status 500)"))
        #expect(try await session.tokenStorage.load() == nil)
    }

    @Test func `No error shows a password or a cookie`() async throws {
        let server = try ScriptedServer { _ in .init(status: 401, headers: ["Set-Cookie: sid=c00kie"], body: "pa55word c00kie") }
        let session = try CookieLogins.session([("login", "\(server.url)/login"), ("username", "u"), ("password", "pa55word")])
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        #expect(!"\(error)".contains("pa55word") && !"\(error)".contains("c00kie"))
    }
}
