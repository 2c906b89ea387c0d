import NevodPluginTesting
import NevodSupport
import Testing

/// The polling rules of RFC 8628, with a clock that only waiting moves.
struct DeviceCodeTests {
    private static let device = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code"

    private func begun(_ more: [JSONValue.Member] = []) -> ScriptedServer.Step {
        .expect("POST", "/device", containing: ["client_id=app"], codes(more))
    }

    private func codes(_ more: [JSONValue.Member]) -> TestResponse {
        let members = [
            JSONValue.Member("device_code", "D"), JSONValue.Member("user_code", "WDJB-MJHT"),
            JSONValue.Member("verification_uri", "https://as.test/activate"), JSONValue.Member("expires_in", 600),
        ]
        let others = members.filter { member in !more.contains { $0.name == member.name } }
        return .json(.object(others + more))
    }

    private func refused(_ code: String, _ description: String? = nil) -> ScriptedServer.Step {
        var members = [JSONValue.Member("error", .string(code))]
        if let description { members.append(JSONValue.Member("error_description", .string(description))) }
        return .expect("POST", "/token", containing: [Self.device, "device_code=D"], .json(.object(members), status: 400))
    }

    private func waits(_ result: FlowResult) -> [String] { result.transcript.filter { $0.hasPrefix("wait") } }

    private func problem(_ steps: [ScriptedServer.Step]) throws -> TestFailure {
        let scheme = try makeClient(["grant": "device"])
        return try #require(throws: TestFailure.self) { try scheme.run(.login, with: ScriptedServer(steps)) }
    }

    @Test func `Polls every five seconds until the person has confirmed`() throws {
        let scheme = try makeClient(["grant": "device", "scope": "a b"])
        let server = ScriptedServer([begun(), refused("authorization_pending"), refused("authorization_pending"), .token()])
        let result = try scheme.run(.login, with: server)
        #expect(waits(result) == ["wait 5000 ms", "wait 5000 ms", "wait 5000 ms"])
        #expect(result.shown == ["Enter the code WDJB-MJHT at this address, on any device: https://as.test/activate"])
        #expect(server.requests[0].formValue("scope") == "a b")
        let request = try scheme.authorize(TestRequest("GET", "https://api.test/"), token: result.token)
        #expect(request.headers["Authorization"] == "Bearer A")
    }

    @Test func `Shows the code also with an address that has it`() throws {
        let complete = JSONValue.Member("verification_uri_complete", "https://as.test/activate?user_code=WDJB-MJHT")
        let result = try makeClient(["grant": "device"]).run(.login, with: ScriptedServer([begun([complete]), .token()]))
        #expect(
            result.shown == [
                "Enter the code WDJB-MJHT at https://as.test/activate, or open this address and compare the code: "
                    + "https://as.test/activate?user_code=WDJB-MJHT"
            ])
    }

    @Test func `slow_down adds five seconds for good`() throws {
        let steps = [
            begun([JSONValue.Member("interval", 2)]), refused("slow_down"), refused("authorization_pending"),
            refused("slow_down"),
            .token(),
        ]
        let result = try makeClient(["grant": "device"]).run(.login, with: ScriptedServer(steps))
        #expect(waits(result) == ["wait 2000 ms", "wait 7000 ms", "wait 7000 ms", "wait 12000 ms"])
    }

    @Test func `slow_down never makes it poll faster`() throws {
        let slow = begun([JSONValue.Member("interval", 200), JSONValue.Member("expires_in", 3000)])
        let steps = [
            slow, refused("slow_down"), .expect("POST", "/token", failing: .transientError), refused("authorization_pending"),
            .token(),
        ]
        let result = try makeClient(["grant": "device"]).run(.login, with: ScriptedServer(steps))
        #expect(waits(result) == ["wait 200000 ms"] + Array(repeating: "wait 205000 ms", count: 3))
    }

    /// A flow may wait 2000 times: twice for each poll, if the server is busy.
    @Test(arguments: [(899, "wait 1000 ms"), (900, "wait 2000 ms"), (3600, "wait 4000 ms")])
    func `A code that lives long is polled less often`(_ lifetime: Int64, _ expected: String) throws {
        let members = [JSONValue.Member("interval", 1), JSONValue.Member("expires_in", .integer(lifetime))]
        let result = try makeClient(["grant": "device"]).run(
            .login, with: ScriptedServer([begun(members), refused("authorization_pending"), .token()]))
        #expect(waits(result) == [expected, expected])
    }

    @Test func `A code that nobody confirms ends the login, also one that lives for ever`() throws {
        let members = [JSONValue.Member("interval", 1), JSONValue.Member("expires_in", .integer(.max))]
        let (codes, pending) = (
            codes(members), TestResponse.json(.object([JSONValue.Member("error", "authorization_pending")]), status: 400)
        )
        let server = ScriptedServer { $0.path == "/token" ? pending : codes }
        let failure = try #require(throws: TestFailure.self) { try makeClient(["grant": "device"]).run(.login, with: server) }
        #expect(failure.message.hasPrefix("the code WDJB-MJHT expired"), "\(failure)")
        #expect(server.requests.count == 826)
    }

    @Test func `A server that doesn't answer is asked less often, and forgiven`() throws {
        let steps = [
            begun(), .expect("POST", "/token", failing: .transientError),
            .expect("POST", "/token", TestResponse(503, body: "<html>")), refused("temporarily_unavailable"),
            refused("authorization_pending"), .token(),
        ]
        let result = try makeClient(["grant": "device"]).run(.login, with: ScriptedServer(steps))
        #expect(
            waits(result) == ["wait 5000 ms", "wait 10000 ms", "wait 20000 ms", "wait 40000 ms", "wait 40000 ms"])
    }

    @Test(arguments: [(503, "Service Unavailable"), (429, "rate_limited"), (200, "internal_error"), (400, "ratelimited")])
    func `A server in trouble may say so in any word`(status: Int, code: String) throws {
        let trouble = TestResponse.json(.object([JSONValue.Member("error", .string(code))]), status: status)
        let steps = [begun(), .expect("POST", "/token", trouble), .token()]
        let result = try makeClient(["grant": "device"]).run(.login, with: ScriptedServer(steps))
        #expect(waits(result) == ["wait 5000 ms", "wait 10000 ms"])
    }

    @Test func `A server that never answers again ends the login`() throws {
        let silent = ScriptedServer.Step.expect("POST", "/token", failing: .transientError)
        let lifetime = JSONValue.Member("expires_in", 3000)
        let failure = try problem([begun([lifetime])] + Array(repeating: silent, count: 10))
        #expect(failure.message.contains("the connection timed out"))
    }

    @Test func `A poll that can't succeed ends the login`() throws {
        #expect(
            try problem([begun(), .expect("POST", "/token", failing: .permanentError)]).message.contains("certificate"))
        #expect(try problem([begun(), .expect("POST", "/token", TestResponse(404, body: "<html>"))]).message.contains("404"))
        #expect(try problem([begun(), refused("invalid_grant")]).message.contains("invalid_grant"))
    }

    @Test func `A refusal says whose it is`() throws {
        let failure = try problem([begun(), refused("access_denied", "Not\u{1B}[2J you")])
        #expect(failure.message == "the login was refused on the other device (Not [2J you)")
        #expect(failure.description.contains("NEVOD_DENIED"))
    }

    @Test func `A refusal doesn't repeat the device code`() throws {
        let code = JSONValue.Member("device_code", "d:vice/code")
        let denied = TestResponse.json(
            .object([JSONValue.Member("error", "access_denied"), JSONValue.Member("error_description", "no d%3Avice/code")]),
            status: 400)
        let failure = try problem([begun([code]), .expect("POST", "/token", denied)])
        #expect(failure.message == "the login was refused on the other device")
    }

    @Test func `A refusal of the client is none of the person`() throws {
        let denied = TestResponse.json(.object([JSONValue.Member("error", "access_denied")]), status: 401)
        let failure = try problem([begun(), .expect("POST", "/token", denied)])
        #expect(failure.message.hasPrefix("was not accepted by the server with the token request: access_denied"), "\(failure)")
    }

    @Test func `A code that expires is named, by the server's word or by its time`() throws {
        let expected = "the code WDJB-MJHT expired before it was confirmed; log in again for a new one"
        let failure = try problem([begun(), refused("expired_token")])
        #expect(failure.message == expected)
        #expect(failure.description.contains("NEVOD_UNAVAILABLE"))
        let short = begun([JSONValue.Member("expires_in", 11)])
        #expect(
            try problem([short, refused("authorization_pending"), refused("authorization_pending")]).message == expected)
    }

    @Test(
        arguments: ["expires_in", "interval"],
        [JSONValue.integer(.max), .integer(-1), .integer(0), .string("x"), .null, .number(1e300)])
    func `No number makes it wait for ever, or not at all`(name: String, value: JSONValue) throws {
        let result = try makeClient(["grant": "device"]).run(
            .login, with: ScriptedServer([begun([JSONValue.Member(name, value)]), .token()]))
        let isLongest = name == "interval" && (value == .integer(.max) || value == .number(1e300))
        #expect(waits(result) == [isLongest ? "wait 300000 ms" : "wait 5000 ms"])
    }

    @Test(
        arguments: [
            ("device_code", JSONValue.string(""), "device_code"), ("device_code", "a\nb", "device_code"),
            ("user_code", .string(String(repeating: "A", count: 65)), "user_code"), ("user_code", "AB\u{202E}CD", "user_code"),
            ("user_code", .integer(12_345_678), "user_code"), ("verification_uri", "javascript:alert(1)", "verification_uri"),
            ("verification_uri", "file:///etc/passwd", "verification_uri"),
            ("verification_uri", "https://a b/", "verification_uri"),
            ("verification_uri", .string("https://a/" + String(repeating: "a", count: 512)), "verification_uri"),
        ] as [(String, JSONValue, String)])
    func `A response that isn't safe to show is refused`(name: String, value: JSONValue, member: String) throws {
        let failure = try problem([begun([JSONValue.Member(name, value)])])
        #expect(failure.message.hasPrefix("the server's response to the request for a device code has no valid \(member)"))
    }

    @Test func `A complete address that is none is left out`() throws {
        let complete = JSONValue.Member("verification_uri_complete", "javascript:alert(1)")
        let result = try makeClient(["grant": "device"]).run(.login, with: ScriptedServer([begun([complete]), .token()]))
        #expect(result.shown == ["Enter the code WDJB-MJHT at this address, on any device: https://as.test/activate"])
    }

    /// GitHub's response without the header that asks for JSON, and Google's older name.
    @Test func `A form and a draft's name are read as well`() throws {
        let form = "device_code=D&user_code=AB-CD&verification_url=https%3A%2F%2Fas.test%2Factivate&expires_in=900&interval=6"
        let pending = "error=authorization_pending&error_description=not+yet"
        let steps: [ScriptedServer.Step] = [
            .expect("POST", "/device", containing: ["Accept: application/json"], TestResponse(body: form)),
            .expect("POST", "/token", TestResponse(body: pending)),
            .expect("POST", "/token", TestResponse(body: "access_token=A&token_type=bearer")),
        ]
        let result = try makeClient(["grant": "device"]).run(.login, with: ScriptedServer(steps))
        #expect(waits(result) == ["wait 6000 ms", "wait 6000 ms"])
        #expect(result.shown == ["Enter the code AB-CD at this address, on any device: https://as.test/activate"])
    }
}
