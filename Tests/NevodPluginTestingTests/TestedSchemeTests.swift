import NevodTestSupport
import Testing

@testable import NevodPluginTesting

@Suite struct TestedSchemeTests {
    private func hmac(_ settings: KeyValuePairs<String, String> = ["api-key": "k", "secret": "s"]) throws -> TestedScheme {
        try TestedPlugin(library: TestLibrary.hmac.get()).scheme("hmac", settings: settings, clock: .fixed(1_700_000_000))
    }

    private func edits(_ random: TestRandom = .repeating([0x61, 0x62])) throws -> TestedScheme {
        try TestedPlugin(library: TestLibrary.edits.get()).scheme(random: random)
    }

    @Test func signatureAsComputedByOpenSSL() throws {
        let signed = try hmac().authorize(
            TestRequest("POST", "https://api.test/a?x=1", headers: ["Accept": "*/*"], body: "content"))
        let script = """
            import hashlib, hmac
            message = "\\n".join(["POST", "/a", "1700000000", hashlib.sha256(b"content").hexdigest()])
            print(hmac.new(b"s", message.encode(), hashlib.sha256).hexdigest())
            """
        #expect([signed.headers["x-signature"]] == (try Command.python(script)))
        #expect(signed.headers["X-Timestamp"] == "1700000000")
        #expect(signed.headers.lines.map(\.name) == ["Host", "Accept", "X-API-Key", "X-Timestamp", "X-Signature"])
        #expect(signed.edits == ["header X-API-Key", "header X-Timestamp", "header X-Signature"])
        #expect(signed.url == "https://api.test/a?x=1" && signed.text == "content")
    }

    @Test func settings() throws {
        let unknown = #expect(throws: TestFailure.self) { try hmac(["secrt": "s"]) }
        #expect(unknown?.description == #"the scheme has no setting "secrt"; it has "api-key", "secret""#)
        let missing = #expect(throws: TestFailure.self) { try hmac(["api-key": "k"]) }
        #expect(missing?.description == #"the setting "secret" is required"#)
        let bad = #expect(throws: TestFailure.self) { try hmac(["api-key": "k", "secret": ""]) }
        #expect(bad?.status == Int32(NEVOD_BAD_SETTINGS) && bad?.subject == "secret")
        #expect(bad?.description == #"create returned NEVOD_BAD_SETTINGS: "secret" the secret is empty"#)
        let other = #expect(throws: TestFailure.self) { try TestedPlugin(library: TestLibrary.hmac.get()).scheme("x") }
        #expect(other?.description == #"there is no scheme "x"; the plugin has "hmac""#)
    }

    @Test func whatASchemeSees() throws {
        let scheme = try edits()
        scheme.state = Array("n 1".utf8)
        _ = try scheme.authorize(TestRequest("GET", "https://a.test/"))
        _ = try scheme.authorize(TestRequest("GET", "https://a.test/"))
        let signed = try scheme.authorize(TestRequest("POST", "https://a.test/view", body: "b"))
        #expect(signed.headers["X-First"] == "a.test" && signed.headers["X-Digests"] == "2" && signed.headers["X-Uses"] == "two")
        #expect(signed.url == "https://a.test/view?state=n%201&random=ab")
        #expect(try edits().authorize(TestRequest("GET", "https://a.test/suffix")).headers["X-Suffixes"] == "right")
        #expect(try edits(.counting).authorize(TestRequest("POST", "https://a.test/view", body: "b")).url.hasSuffix("%00%00"))
    }

    @Test func hostLineOfTheCaller() throws {
        let request = TestRequest("POST", "https://a.test/view", headers: ["Accept": "a", "host": "virtual.test"], body: "b")
        let signed = try edits().authorize(request)
        #expect(signed.headers["X-First"] == "virtual.test" && signed.headers.values(of: "Host") == ["virtual.test"])
        #expect(signed.url.hasPrefix("https://a.test/view?") && signed.request.headers["Host"] == "virtual.test")
        let view = try request.contract().view(for: ContractNeeds(), at: 0, random: [])
        #expect(String(decoding: view.authority, as: UTF8.self) == "virtual.test")
    }

    @Test func editsOfEachKind() throws {
        let request = TestRequest("POST", "https://a.test/all", headers: ["Cookie": "id=old; other=1", "Accept": "a"], body: "b")
        let signed = try edits().authorize(request)
        #expect(
            signed.headers.lines.map { "\($0.name): \($0.value)" } == [
                "Host: a.test", "Cookie: other=1; id=new", "Accept: a", "Accept: b",
            ])
        #expect(signed.text == "other")
    }

    @Test func whatAHostRefuses() throws {
        let failure = #expect(throws: TestFailure.self) { try edits().authorize(TestRequest("GET", "https://a.test/host")) }
        #expect(failure?.description == #"authorize: a host refuses the header "Host": only the host writes it"#)
        let null = #expect(throws: TestFailure.self) { try edits().authorize(TestRequest("GET", "https://a.test/null")) }
        #expect(null?.description == "authorize: a header's value has a length of 5 bytes, but its pointer is NULL")
        let scheme = try edits()
        _ = try scheme.authorize(TestRequest("GET", "https://a.test/keep"))
        let kept = #expect(throws: TestFailure.self) { try scheme.authorize(TestRequest("GET", "https://a.test/use")) }
        #expect(kept?.description == "authorize: set_header was called after authorize had returned, or on another thread")
    }

    @Test func responses() throws {
        let scheme = try edits()
        let request = try scheme.authorize(TestRequest("GET", "https://a.test/")).request
        let verdict = try scheme.respond(to: TestResponse(401, headers: ["Nonce": "n2"]), request: request)
        #expect(verdict.kind == .retryOnce && scheme.state == Array("n2".utf8))
        let failure = #expect(throws: TestFailure.self) { try scheme.respond(to: TestResponse(403), request: request) }
        #expect(failure?.description == "on_response: it called wait; it may call only set_state and keep")
    }

    // MARK: Flows

    private func session() throws -> TestedScheme {
        try TestedPlugin(library: TestLibrary.session.get()).scheme(settings: ["server": "http://a.test"])
    }

    private let answers: TestPerson = ["user": "ann", "password": "p"]

    @Test func loginAndWhatItsTokenIsFor() throws {
        let scheme = try session()
        let server = ScriptedServer([
            .expect("POST", "/login", containing: ["user=ann"], TestResponse(body: "s1\nr1\n")),
            .expect("GET", "/session", TestResponse(body: #"{"user": "ann", "seconds": 60}"#)),
        ])
        let login = try scheme.run(.login, with: server, answers: answers)
        #expect(login.token?.text == "s1\nr1\n")
        #expect(
            login.transcript == [
                "start", "ask user, password", "send POST http://a.test/login", "response 200", "keep",
                "send GET http://a.test/session", "response 200", "token",
            ])
        #expect(server.requests.first?.formValue("password") == "p")
        let token = try #require(login.token)
        #expect(try scheme.authorize(TestRequest("GET", "https://a.test/"), token: token).headers["X-Session"] == "s1")
        let renewed = try scheme.run(
            .refresh,
            with: ScriptedServer { TestResponse(body: $0.formValue("renewal").map { "s2\n\($0)\n" } ?? "{}") }, token: token)
        #expect(renewed.token?.text == "s2\nr1\n")
        #expect(try scheme.run(.logout, with: ScriptedServer { _ in TestResponse() }, token: token).token == nil)
        let failure = #expect(throws: TestFailure.self) {
            try scheme.authorize(TestRequest("GET", "https://a.test/"), token: TestToken("one line"))
        }
        #expect(failure?.description == "token_decode returned NEVOD_BAD_TOKEN: it is not of two lines")
    }

    @Test(arguments: [
        (
            [], #"request 1 of the flow, POST http://a.test/login, is one more than the 0 that the script expects"#
        ),
        (
            [ScriptedServer.Step.expect("POST", "/signin", TestResponse())],
            "request 1 of the flow, POST http://a.test/login, should be POST /signin"
        ),
        (
            [
                .expect("POST", "/login", TestResponse(body: "s\nr\n")), .expect("GET", "/session", TestResponse(body: "{}")),
                .expect("GET", "/me", TestResponse()),
            ],
            "the flow sent 2 of 3 expected requests; GET /me is missing"
        ),
        (
            [.expect("POST", "/login", failing: .transientError)],
            "flow_step returned NEVOD_UNAVAILABLE: the connection timed out"
        ),
        ([.expect("POST", "/login", failing: .cancelled)], "flow_step: the flow was cancelled, as the test asked"),
        ([.expect("POST", "/login", TestResponse(403))], "flow_step returned NEVOD_DENIED: the server refused it"),
    ])
    func failingLogins(steps: [ScriptedServer.Step], message: String) throws {
        let failure = #expect(throws: TestFailure.self) {
            try session().run(.login, with: ScriptedServer(steps), answers: answers)
        }
        #expect(failure?.description == message)
    }

    @Test func missingPartOfARequest() throws {
        let server = ScriptedServer([.expect("POST", "/login", containing: ["user=bob"], TestResponse())])
        let failure = #expect(throws: TestFailure.self) { try session().run(.login, with: server, answers: answers) }
        #expect(
            failure?.description == """
                request 1 of the flow, POST http://a.test/login, should contain "user=bob"; it has the headers \
                [Content-Type: application/x-www-form-urlencoded] and the body: password=p&user=ann
                """)
    }

    @Test func missingAnswer() throws {
        let failure = #expect(throws: TestFailure.self) { try session().run(.login, answers: ["user": "ann"]) }
        #expect(failure?.description == #"flow_step returned NEVOD_UNSUPPORTED, without a report"#)
    }

    @Test func clock() {
        let clock = TestClock.fixed(1)
        clock.advance(by: 2)
        #expect(clock.unixNanoseconds == 3_000_000_000)
        clock.advance(by: .max)
        #expect(clock.unixNanoseconds == .max)
        clock.advance(by: .min)
        #expect(clock.unixNanoseconds == -1)
    }
}
