import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests one-time codes that a page's form asks for, and codes that the scheme computes.
struct SecondFactorTests {
    /// Accepts a list of codes. Shows its form for them as the response to the login, or after a redirect.
    private final class Site: Sendable {
        struct State {
            var codes: [ScriptedServer.Request] = []
            var pages = 0

            mutating func form(_ action: String, _ alert: String = "") -> String {
                pages += 1
                return """
                    \(alert)<form method=post action='\(action)'><input type=hidden name=csrf value=page-\(pages)>
                    <input type=hidden name=step value=token><input name=otp autocomplete=one-time-code></form>
                    """
            }
        }
        private final class Box: Sendable { let value = Locked(State()) }
        private let box = Box()
        let server: ScriptedServer
        var state: State { box.value.withLock { $0 } }
        var codes: [String] { state.codes.map(\.text) }

        /// - Parameters:
        ///   - location: the page to which the login redirects, or nil if the login shows the form itself.
        ///   - action: the target of the form's POST.
        init(
            location: String? = nil, action: String = "/login", accepts valid: @escaping @Sendable (String) -> Bool
        ) throws {
            let box = box
            server = try ScriptedServer { request in
                box.value.withLock { state in
                    switch request.method {
                    case "POST" where request.text.contains("otp="):
                        state.codes.append(request)
                        let code = request.text.split(separator: "&").first { $0.hasPrefix("otp=") }?.dropFirst(4) ?? ""
                        guard valid(String(code)) else {
                            return .page(state.form(action, "<p class=error>The code is wrong.</p>"))
                        }
                        return .redirect("/home", "Set-Cookie: sid=2; Path=/")
                    case "POST":
                        guard request.text.contains("password=p") else { return .page("<input name=password>", status: 401) }
                        if let location { return .redirect(location, "Set-Cookie: half=1; Path=/") }
                        return .page(state.form(action), "Set-Cookie: half=1; Path=/")
                    case _ where request.target == location: return .page(state.form(action))
                    default: return .page("<h1>Hello</h1>")
                    }
                }
            }
        }
    }

    private final class Person: UserInteraction {
        private let codes: Locked<[String]>
        let prompts = Collected<String>()
        init(_ codes: String...) { self.codes = Locked(codes) }
        func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
            Dictionary(
                uniqueKeysWithValues: questions.map { question in
                    prompts.append(question.prompt)
                    return (question.name, Secret(codes.withLock { $0.isEmpty ? "000000" : $0.removeFirst() }))
                })
        }
        func show(_ text: String, url: String) async throws {}
        func open(_ url: String) async throws {}
    }

    struct Way: Sendable, CustomTestStringConvertible {
        var location: String?
        var action = "/login"
        var settings: [(String, String)]
        var requests: [String]
        var testDescription: String { settings.map { "\($0.0)=\($0.1)" }.joined(separator: " ") + " \(location ?? "")" }
    }

    static let ways = [
        Way(settings: [("mfa-when", "field:otp")], requests: ["POST /login", "POST /login"]),
        Way(action: "/2fa/check?x=1", settings: [("mfa-when", "field:otp")], requests: ["POST /login", "POST /2fa/check?x=1"]),
        Way(action: "/elsewhere", settings: [("mfa", "/mfa")], requests: ["POST /login", "POST /mfa"]),
        Way(
            location: "/2fa", settings: [("mfa-when", "302 location:/2fa")], requests: ["POST /login", "GET /2fa", "POST /login"]),
        Way(
            location: "/2fa?next=/", action: "/2fa", settings: [("mfa-when", "location:/2fa*")],
            requests: ["POST /login", "GET /2fa?next=/", "POST /2fa"]),
        Way(
            location: "/2fa", action: "", settings: [("mfa-page", "/2fa"), ("mfa-when", "location:/2fa")],
            requests: ["POST /login", "GET /2fa", "POST /2fa"]),
        // The default sign of mfa-when, on the page to which the redirect leads.
        Way(location: "/2fa", action: "", settings: [("mfa-page", "/2fa")], requests: ["POST /login", "GET /2fa", "POST /2fa"]),
        Way(location: "/2fa", action: "/mfa", settings: [("mfa", "/mfa")], requests: ["POST /login", "GET /2fa", "POST /mfa"]),
    ]

    /// The requests until the code is sent. The same page isn't fetched twice.
    private func requests(_ site: Site) -> [String] {
        let lines = site.server.requests.map(\.line)
        let last = lines.lastIndex { $0.hasPrefix("POST") } ?? 0
        return lines[...last].reduce(into: []) { if $0.last != $1 || $1.hasPrefix("POST") { $0.append($1) } }
    }

    @Test(arguments: ways)
    func `A code goes into the form that asks for it`(way: Way) async throws {
        let site = try Site(location: way.location, action: way.action, accepts: { $0 == "123456" })
        let settings = [("mfa-code", "otp"), ("mfa-field", "remember=on")] + way.settings
        let session = try CookieLogins.session(at: site.server, settings, interaction: Person("123456"))
        try await session.login()
        #expect(requests(site) == way.requests)
        let code = try #require(site.state.codes.first)
        #expect(code.text == "csrf=page-\(site.state.pages)&step=token&otp=123456&remember=on")
        #expect(code["Cookie"] == "half=1")
        _ = try await session.provider().text("\(site.server.url)/x")
        #expect(site.server.requests.last?["Cookie"] == "half=1; sid=2")
    }

    /// Otherwise half a login would be stored as one.
    @Test(arguments: [nil, "/2fa"])
    func `A page that asks for the code is no login, though it sets a cookie`(location: String?) async throws {
        let site = try Site(location: location, accepts: { _ in false })
        let session = try CookieLogins.session(
            at: site.server, [("mfa-code", "otp"), ("totp", "GEZDGNBVGY3TQOJQ")], clock: Self.clock)
        _ = try await CookieLogins.failure(of: session)
        #expect(!site.codes.isEmpty)
        #expect(try await session.tokenStorage.load() == nil)
    }

    /// As in Flask-Security and others: the session cookie comes with the password, and only the redirect says what is missing.
    @Test(arguments: [
        ("/2fa", ScriptedServer.Response.page("Invalid code<form method=post><input name=otp></form>")),
        ("/2fa", .page("Invalid code<form method=post><input name=otp></form>", status: 422)),
        ("/2fa", .redirect("/2fa")), ("/2fa/check", .redirect("/2fa")), ("/2fa/check", .redirect("/2fa/check?again")),
    ])
    func `A wrong code is none, whatever says that a code is missing`(action: String, refusal: ScriptedServer.Response)
        async throws
    {
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login": .redirect("/2fa", "Set-Cookie: sid=1; Path=/")
            case "POST \(action)": refusal
            default: .page("<form method=post action='\(action)'><input name=otp></form>", "Set-Cookie: sid=2; Path=/")
            }
        }
        for sign in ["location:/2fa", "field:otp"] {
            for more in [[("session-cookie", "sid")], []] {
                let person = Person("1", "2", "3")
                let session = try CookieLogins.session(
                    at: server, [("mfa-code", "otp"), ("mfa-when", sign)] + more, interaction: person)
                let failure = try await CookieLogins.failure(of: session)
                #expect(failure.status == .denied && failure.message.contains("the server refused 3 one-time codes"))
                #expect(person.prompts.values.count == 3)
                #expect(try await session.tokenStorage.load() == nil)
            }
        }
    }

    /// An unknown page, with or without a field for a code, may be a refusal's.
    @Test(arguments: [
        ScriptedServer.Response.page("Something went wrong"), .redirect("/start"),
    ])
    func `A response to a code that says nothing is no login without a probe`(answer: ScriptedServer.Response) async throws {
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login": .redirect("/2fa", "Set-Cookie: sid=1; Path=/")
            case "POST /2fa": answer
            case "GET /me": .page("Ada")
            default: .page("<form method=post><input name=otp></form>")
            }
        }
        let settings = [("mfa-code", "otp"), ("mfa-when", "location:/2fa"), ("session-cookie", "sid")]
        let session = try CookieLogins.session(at: server, settings, interaction: Person("1"))
        let failure = try await CookieLogins.failure(of: session)
        #expect(failure.status == .unavailable && failure.message.contains("doesn't say whether it succeeded"), "\(failure)")
        try await CookieLogins.session(at: server, settings + [("probe", "/me")], interaction: Person("1")).login()
    }

    /// Such as the account's page, where a code turns codes off.
    @Test func `A page behind the code that has a field for codes asks for none`() async throws {
        let form = "<form method=post><input name=otp></form>"
        let server = try ScriptedServer { request in
            switch request.line {
            case "POST /login": .redirect("/2fa", "Set-Cookie: half=1; Path=/")
            case "POST /2fa": .redirect("/account", "Set-Cookie: sid=2; Path=/")
            default: .page(form)
            }
        }
        let person = Person("123456")
        let settings = [("mfa-code", "otp"), ("mfa-when", "field:otp"), ("probe", "/account")]
        try await CookieLogins.session(at: server, settings, interaction: person).login()
        #expect(server.requests.map(\.line) == ["POST /login", "GET /2fa", "POST /2fa", "GET /account"])
        #expect(person.prompts.values == ["One-time code"])
    }

    @Test func `A wrong code is sent again with the new page's fields`() async throws {
        let site = try Site(accepts: { $0 == "123456" })
        let person = Person("1", "2", "123456")
        let settings = [("mfa-code", "otp"), ("mfa-when", "field:otp")]
        try await CookieLogins.session(at: site.server, settings, interaction: person).login()
        #expect(
            site.codes == ["csrf=page-1&step=token&otp=1", "csrf=page-2&step=token&otp=2", "csrf=page-3&step=token&otp=123456"])
        #expect(
            person.prompts.values == ["One-time code"] + Array(repeating: "One-time code (the last one was refused)", count: 2))
    }

    @Test func `Three wrong codes are refused with the server's words`() async throws {
        let site = try Site(accepts: { _ in false })
        let settings = [("mfa-code", "otp"), ("mfa-when", "field:otp")]
        let session = try CookieLogins.session(at: site.server, settings, interaction: Person("1", "2", "3", "4"))
        let failure = try await CookieLogins.failure(of: session)
        #expect(failure == (.denied, "the server refused 3 one-time codes: \"The code is wrong.\""))
        #expect(site.codes.count == 3)
        #expect(site.server.requests.count { $0.text.contains("password=") } == 1)
    }

    @Test func `A wrong password asks for no code`() async throws {
        let site = try Site(accepts: { _ in true })
        let person = Person("123456")
        let settings = [("mfa-code", "otp"), ("mfa-when", "field:otp"), ("password", "wrong")]
        let failure = try await CookieLogins.failure(of: CookieLogins.session(at: site.server, settings, interaction: person))
        #expect(failure.status == .denied)
        #expect(person.prompts.values.isEmpty)
    }

    @Test func `Without a person, the error names the question`() async throws {
        let site = try Site(accepts: { _ in true })
        let session = try CookieLogins.session(at: site.server, [("mfa-code", "otp"), ("mfa-when", "field:otp")])
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        guard case .unanswered("cookie", ["code"]) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }

    @Test func `A page without the code's form is an error that says what to set`() async throws {
        let server = try ScriptedServer { _ in .page("Enter the code", "Set-Cookie: half=1; Path=/") }
        let settings = [("mfa-when", "200"), ("mfa-code", "otp")]
        let failure = try await CookieLogins.failure(of: CookieLogins.session(at: server, settings, interaction: Person("1")))
        #expect(failure == (.unavailable, "there is no form with the field otp for the code; set mfa or mfa-page"))
    }

    @Test func `A code at another origin goes without the login's CSRF token`() async throws {
        let other = try ScriptedServer { _ in .page("<form method=post><input name=otp></form>") }
        let server = try ScriptedServer { request in
            request.line == "POST /login"
                ? .redirect("/next", "Set-Cookie: half=1; Path=/") : .page("<meta name=csrf-token content=t>")
        }
        let settings = [
            ("csrf", "meta"), ("mfa-when", "location:/next"), ("mfa-code", "otp"), ("mfa", "\(other.url)/2fa"),
            ("mfa-page", "\(other.url)/2fa"), ("success", "200"),
        ]
        try await CookieLogins.session(at: server, settings, interaction: Person("1")).login()
        #expect(server.requests.last?["X-CSRF-Token"] == "t")
        #expect(other.requests.map(\.line) == ["GET /2fa", "POST /2fa"])
        #expect(other.requests.allSatisfy { $0["X-CSRF-Token"] == nil })
    }

    @Test func `A code isn't sent to an origin that no setting names`() async throws {
        let site = try Site(action: "https://evil.example/", accepts: { _ in true })
        let person = Person("123456")
        let settings = [("mfa-code", "otp"), ("mfa-when", "field:otp")]
        let failure = try await CookieLogins.failure(of: CookieLogins.session(at: site.server, settings, interaction: person))
        #expect(failure.status == .unavailable && failure.message.contains("https://evil.example"), "\(failure.message)")
        #expect(person.prompts.values.isEmpty)
    }

    // MARK: Computed codes (RFC 6238 Appendix B, with six digits)

    /// The secret of the vectors, `12345678901234567890`.
    private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    private static let clock = HostClock { 1_111_111_109 * 1_000_000_000 }

    @Test(
        arguments: [
            (59, "287082"), (1_111_111_109, "081804"), (1_111_111_111, "050471"), (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
        ] as [(Int64, String)])
    func `A code is computed, and nobody is asked`(seconds: Int64, code: String) async throws {
        for secret in [Self.secret, Self.secret.lowercased(), "otpauth://totp/Site:ada?secret=\(Self.secret)&issuer=Site"] {
            let site = try Site(accepts: { $0 == code })
            let session = try CookieLogins.session(
                at: site.server, [("mfa-code", "otp"), ("totp", secret)], clock: HostClock { seconds * 1_000_000_000 })
            try await session.login()
            #expect(site.codes == ["csrf=page-1&step=token&otp=\(code)"])
        }
    }

    @Test func `A computed code goes to an API too`() async throws {
        let server = try ScriptedServer { request in
            request.target == "/login"
                ? .json(401, #"{"code":"MFA_REQUIRED","sessionId":"s-1"}"#) : .json(200, "{}", "Set-Cookie: sid=1; Path=/")
        }
        let settings = [("format", "json"), ("mfa", "/mfa"), ("totp", Self.secret)]
        try await CookieLogins.session(at: server, settings, clock: HostClock { 59 * 1_000_000_000 }).login()
        #expect(server.requests.map(\.text).last == #"{"sessionId":"s-1","code":"287082"}"#)
    }

    /// Each code is valid for two seconds, so the next one comes soon.
    private static let fast = "otpauth://totp/Site:ada?secret=\(secret)&period=2"

    /// Each code is valid once (RFC 6238 §5.2), and another login may have used this one.
    @Test func `A code that was used already is followed by the next period's`() async throws {
        let used = Locked<String?>(nil)
        let site = try Site(accepts: { code in
            used.withLock { used in
                defer { used = used ?? code }
                return used != nil && used != code
            }
        })
        try await CookieLogins.session(at: site.server, [("mfa-code", "otp"), ("totp", Self.fast)]).login()
        #expect(site.codes.count == 2)
        #expect(site.codes.last?.hasPrefix("csrf=page-2&step=token&otp=") == true)
    }

    @Test func `Two computed codes are the most, and the error shows neither`() async throws {
        let site = try Site(accepts: { _ in false })
        let session = try CookieLogins.session(at: site.server, [("mfa-code", "otp"), ("totp", Self.fast)])
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        #expect("\(error)".contains("the server refused 2 one-time codes: \"The code is wrong.\""))
        let codes = site.codes.compactMap { $0.split(separator: "=").last.map(String.init) }
        #expect(codes.count == 2 && codes[0] != codes[1])
        for secret in codes + [Self.secret] { #expect(!"\(error)".contains(secret)) }
    }

    @Test(arguments: ["", "not base32!", "otpauth://hotp/a?secret=GEZDGNBV", "otpauth://totp/a", "GEZDGNB1"])
    func `A malformed secret is refused with the setting's name, and isn't shown`(secret: String) throws {
        let error = try #require(throws: PluginError.self) {
            try CookieLogins.instance([("login", "http://h/login"), ("totp", secret)])
        }
        guard case .failed("cookie", "create", 1, "totp", let message, nil) = error.reason else {
            Issue.record("\(error)")
            return
        }
        #expect(secret.isEmpty || !message.contains(secret))
    }

    @Test(arguments: [("mfa-field", "a=b"), ("mfa-expired", "410")])
    func `A setting without a second factor is refused`(name: String, value: String) throws {
        let error = try #require(throws: PluginError.self) {
            try CookieLogins.instance([("login", "http://h/login"), (name, value)])
        }
        guard case .failed("cookie", "create", 1, name, "has no meaning without mfa or mfa-when", nil) = error.reason else {
            Issue.record("\(error)")
            return
        }
    }
}
