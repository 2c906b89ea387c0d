import NevodPluginKit
import Testing

/// A flow's function, driven by the host's calls of `flow_step`.
struct FlowTests {
    /// The behaviour of a test's flow. It is passed in a task-local value, because the kit makes the scheme.
    struct Script: Sendable {
        @TaskLocal static var login: @Sendable (AuthFlow) async throws(SchemeError) -> IssuedToken = { _ in
            IssuedToken(Secret("t"))
        }
    }

    struct Scripted: FlowScheme, RefreshFlow, LogoutFlow, ChallengeFlow {
        static let id = "scripted"
        static let title = "Does as it is told"
        private var script = Script.login

        func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken { try await script(flow) }

        func refresh(_ flow: AuthFlow, _ token: Secret) async throws(SchemeError) -> IssuedToken {
            guard var next = flow.token else { throw .internal("no token") }
            next.bytes = Secret("\(String(revealing: token)) again")
            next.expiresAt = next.expiresAt.map { $0 + 1 }
            return next
        }

        func logout(_ flow: AuthFlow, _ token: Secret) async throws(SchemeError) {
            _ = try await flow.send(.post("https://h/logout", form: ["token": .secret(token)]))
        }

        func challenge(_ flow: AuthFlow, _ response: FlowResponse, _ token: Secret?) async throws(SchemeError) -> IssuedToken {
            IssuedToken(
                Secret(
                    """
                    \(response.status) \(response.isFromProxy) \(response.url) \(response.header("www-AUTHENTICATE") ?? "-") \
                    \(response.headers(named: "WWW-Authenticate").count) \(token.map { String(revealing: $0) } ?? "-") \
                    \(String(decoding: flow.keptState, as: UTF8.self))
                    """))
        }

        func authorize(_ request: borrowing RequestView, _ token: Secret, _ edits: Edits) { edits.setHeader("X-T", token) }
    }

    static let export = PluginExport(Scripted.self, name: "Scripted", version: "1", vendor: "")

    private func begin(_ login: @escaping @Sendable (AuthFlow) async throws(SchemeError) -> IssuedToken) throws -> RunningFlow {
        try Script.$login.withValue(login) { try FlowHost(Self.export).begin(NEVOD_FLOW_LOGIN) }
    }

    private static let done = IssuedToken(Secret("done"))

    @Test func `A flow may return a token in its first step`() throws {
        let flow = try begin { _ async throws(SchemeError) in IssuedToken(Secret("abc"), expiresAt: 1_800_000_000, account: "ada")
        }
        let step = flow.step(.start())
        #expect(step.action == .token(.init(bytes: "abc", expiry: 1_800_000_000_000_000_000, account: "ada")))
        #expect(step.state == nil)
    }

    @Test(arguments: [(nil, 0), (0, 1), (-5, 1), (Int64.max, Int64.max), (2, 2_000_000_000)] as [(Int64?, Int64)])
    func `An expiry is never encoded as none`(seconds: Int64?, nanoseconds: Int64) throws {
        let flow = try begin { _ async throws(SchemeError) in IssuedToken(Secret("abc"), expiresAt: seconds) }
        #expect(flow.step(.start()).action == .token(.init(bytes: "abc", expiry: nanoseconds)))
    }

    @Test func `Every action and every event pass the contract`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            let one = try await flow.send(
                .get("https://h/a", headers: [("X-A", "1"), ("X-A", "2")], followsRedirects: false))
            let two = try await flow.send(.post("https://h/b", form: ["a b": "\(one.status)", "c": .secret(Secret("ä&"))]))
            let three = try await flow.send(.post("https://h/c", json: ["text": "\(two.text)", "n": 1], headers: [("X-B", "")]))
            let answers = try await flow.ask([
                .text("user", "User"), .secret("password", "Password"), .code("code", "Code"),
                .choice("how", "How", ["sms", "app"]),
            ])
            let code = try await flow.ask(.code("code", "Again"))
            try await flow.show(three.header("x-Text") ?? "-", url: "https://h/open")
            let uri = try await flow.listen(path: "/back")
            let back = try await flow.browse("https://h/authorize?redirect_uri=\(uri)")
            try await flow.wait(.milliseconds(1500))
            try await flow.keep(IssuedToken(Secret("kept")))
            let sorted = answers.sorted { $0.key < $1.key }.map { "\($0.key)=\(String(revealing: $0.value))" }
            return IssuedToken(Secret("\(sorted) \(String(revealing: code)) \(back)"))
        }
        #expect(flow.step(.start()).action == .send("GET https://h/a 0\nX-A: 1\nX-A: 2\n\n"))
        #expect(
            flow.step(.response(201)).action
                == .send("POST https://h/b 1\nContent-Type: application/x-www-form-urlencoded\n\na+b=201&c=%C3%A4%26"))
        #expect(
            flow.step(.response(200, "\"x\"\n")).action
                == .send(
                    "POST https://h/c 1\nContent-Type: application/json\nX-B: \n\n{\"text\":\"\\\"x\\\"\\u000a\",\"n\":1}"))
        #expect(
            flow.step(.response(200, headers: [("X-Text", "read this")])).action
                == .ask(["1 user User ", "2 password Password ", "3 code Code ", "4 how How sms|app"]))
        let answers = [("user", "ada"), ("password", "p"), ("code", "123"), ("how", "app")]
        #expect(flow.step(.answers(answers)).action == .ask(["3 code Again "]))
        #expect(flow.step(.answers([("code", "456")])).action == .show("read this", "https://h/open"))
        #expect(flow.step(.shown).action == .listen("/back"))
        #expect(
            flow.step(.listening("http://127.0.0.1:1/back")).action
                == .browse("https://h/authorize?redirect_uri=http://127.0.0.1:1/back"))
        #expect(flow.step(.redirect("http://127.0.0.1:1/back?code=c")).action == .wait(1_500_000_000))
        #expect(flow.step(.timer).action == .keep(.init(bytes: "kept")))
        #expect(
            flow.step(.kept).action
                == .token(
                    .init(
                        bytes:
                            "[\"code=123\", \"how=app\", \"password=p\", \"user=ada\"] 456 http://127.0.0.1:1/back?code=c")))
    }

    @Test(arguments: [
        (Duration.zero, UInt64(0)), (.seconds(-1), 0), (.nanoseconds(1), 1), (.seconds(3), 3_000_000_000),
        (.seconds(Int64.max), .max),
    ])
    func `A pause is passed in nanoseconds, saturated`(pause: Duration, nanoseconds: UInt64) throws {
        let flow = try begin { flow async throws(SchemeError) in
            try await flow.wait(pause)
            return Self.done
        }
        #expect(flow.step(.start()).action == .wait(nanoseconds))
    }

    @Test func `Time and randomness are those of the step`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            let before = "\(flow.unixSeconds) \(flow.unixNanoseconds) \(flow.random)"
            try await flow.wait(.zero)
            return IssuedToken(Secret("\(before) \(flow.unixSeconds) \(flow.random) \(flow.token == nil)"))
        }
        var event = FlowHost.Event.start()
        event.random = [1]
        _ = flow.step(event)
        event = .timer
        event.time = 2_999_999_999
        event.random = [2]
        #expect(
            flow.step(event).action == .token(.init(bytes: "1700000000 1700000000000000000 [1] 2 [2] true")))
    }

    @Test func `A redirect URI may have a fixed port, another name, and take a form`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            let uri = try await flow.listen(path: "/cb", host: "localhost", port: 8400, formPost: true)
            let redirect = try await flow.browseToRedirect("https://h/?\(uri)")
            let again = try await flow.browse("https://h/again")
            return IssuedToken(
                Secret("\(redirect.url) \(redirect.form["code"] ?? "-") \(String(revealing: redirect.body)) \(again)"))
        }
        #expect(flow.step(.start()).action == .listen("/cb localhost 8400 \(NEVOD_LISTEN_FORM_POST)"))
        #expect(flow.step(.listening("http://localhost:8400/cb")).action == .browse("https://h/?http://localhost:8400/cb"))
        #expect(flow.step(.redirect("u", body: "code=a%20b&state=s")).action == .browse("https://h/again"))
        #expect(flow.step(.redirect("v?code")).action == .token(.init(bytes: "u a b code=a%20b&state=s v?code")))
    }

    @Test func `A flow reads the account that is wanted`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            try await flow.wait(.zero)
            return IssuedToken(Secret("<\(flow.account)>"))
        }
        _ = flow.step(.start(account: "ada"))
        #expect(flow.step(.timer).action == .token(.init(bytes: "<ada>")))
    }

    @Test func `A flow reads and replaces the scheme's state`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            #expect(flow.keptState == Array("old".utf8))
            flow.setState(Array("new".utf8))
            #expect(flow.keptState == Array("new".utf8))
            try await flow.wait(.zero)
            try await flow.wait(.zero)
            flow.setState([])
            return Self.done
        }
        #expect(flow.step(.start(state: "old")).state == "new")
        #expect(flow.step(.timer).state == nil)
        #expect(flow.step(.timer).state == "")
    }

    @Test func `A refresh gets the old token`() throws {
        let flow = try FlowHost(Self.export).begin(NEVOD_FLOW_REFRESH)
        let step = flow.step(.start(token: .init(bytes: "old", expiry: 5_999_999_999, account: "ada")))
        #expect(step.action == .token(.init(bytes: "old again", expiry: 6_000_000_000, account: "ada")))
    }

    @Test func `A logout ends with a token without bytes`() throws {
        let flow = try FlowHost(Self.export).begin(NEVOD_FLOW_LOGOUT)
        #expect(
            flow.step(.start(token: .init(bytes: "t"))).action
                == .send("POST https://h/logout 1\nContent-Type: application/x-www-form-urlencoded\n\ntoken=t"))
        #expect(flow.step(.response(204)).action == .token(.init(bytes: "")))
    }

    @Test func `A challenge gets the response and the token`() throws {
        let response = FlowHost.Response(
            status: 407, headers: [("WWW-Authenticate", "Basic"), ("www-authenticate", "Digest")], isFromProxy: true)
        let host = try FlowHost(Self.export)
        #expect(
            try host.begin(NEVOD_FLOW_CHALLENGE).step(.start(response: response, state: "s")).action
                == .token(.init(bytes: "407 true https://h/answered Basic 2 - s")))
        #expect(
            try host.begin(NEVOD_FLOW_CHALLENGE).step(.start(token: .init(bytes: "t"), response: response)).action
                == .token(.init(bytes: "407 true https://h/answered Basic 2 t ")))
        #expect(try host.begin(NEVOD_FLOW_CHALLENGE).step(.start()).status == NEVOD_INTERNAL)
        #expect(try host.begin(NEVOD_FLOW_REFRESH).step(.start()).status == NEVOD_INTERNAL)
    }

    struct LoginOnly: FlowScheme {
        static let id = "login-only"
        static let title = "Has one flow"
        static let isInteractive = false
        func login(_ flow: AuthFlow) async throws(SchemeError) -> IssuedToken { FlowTests.done }
        func authorize(_ request: borrowing RequestView, _ token: Secret, _ edits: Edits) {}
    }

    private static let loginOnly = PluginExport(LoginOnly.self, name: "LoginOnly", version: "1", vendor: "")

    @Test func `A flow that the scheme lacks is unsupported`() throws {
        let host = try FlowHost(Self.loginOnly)
        #expect(host.scheme.flags & UInt32(NEVOD_SCHEME_INTERACTIVE) == 0)
        #expect(try FlowHost(Self.export).scheme.flags & UInt32(NEVOD_SCHEME_INTERACTIVE) != 0)
        for kind in [NEVOD_FLOW_REFRESH, NEVOD_FLOW_LOGOUT, NEVOD_FLOW_CHALLENGE, 0, 9] {
            let report = try #require(throws: FlowHost.Report.self) { try host.begin(kind) }
            #expect(report.status == NEVOD_UNSUPPORTED)
        }
        _ = try host.begin(NEVOD_FLOW_LOGIN)
    }
}
