import NevodPluginTesting
import NevodTestSupport
import Testing

@testable import OAuth2Auth

struct AuthorizationCodeTests {
    /// A browser that ends at the redirect URI with a query. `STATE` is replaced with the request's state.
    private func browser(_ query: String) -> TestPerson {
        TestPerson(browse: { url in
            let request = TestRequest("GET", url)
            let uri = try #require(request.formValue("redirect_uri"))
            return "\(uri)?\(query.replacing("STATE", with: try #require(request.formValue("state"))))"
        })
    }

    private func refusal(
        _ query: String, _ settings: KeyValuePairs<String, String> = [:]
    ) throws -> TestFailure {
        let scheme = try makeClient(settings)
        // There is no request at all, so neither a code nor a proof leaks.
        return try #require(throws: TestFailure.self) { try scheme.run(.login, answers: browser(query)) }
    }

    private func address(_ settings: KeyValuePairs<String, String>, account: String = "") throws -> TestRequest {
        let seen = Collected<String>()
        let person = TestPerson(browse: { url in
            seen.append(url)
            throw Stop()
        })
        let scheme = try makeClient(settings)
        _ = try? scheme.run(.login, answers: person, account: account)
        return TestRequest("GET", try #require(seen.values.first))
    }

    private struct Stop: Error {}

    @Test func `A code is redeemed with its proof`() throws {
        let server = ScriptedServer([.token(containing: ["grant_type=authorization_code", "code=c%2Bd", "client_id=app"])])
        let result = try makeClient().run(.login, with: server, answers: browser("code=c%2Bd&state=STATE"))
        #expect(result.token != nil)
        #expect(server.requests[0].formValue("redirect_uri") == "http://127.0.0.1:49152/callback")
        let verifier = try #require(server.requests[0].formValue("code_verifier"))
        #expect(verifier.utf8.count == 43)
    }

    @Test func `A code is bound to the key of the proof that redeems it`() throws {
        let seen = Collected<String>()
        let browse = try #require(browser("code=c&state=STATE").browse)
        let person = TestPerson(browse: { url in
            seen.append(url)
            return try browse(url)
        })
        let server = ScriptedServer([
            .expect("POST", "/token", .json(["access_token": "A", "token_type": "DPoP", "expires_in": 60]))
        ])
        _ = try makeClient(["dpop": "required"]).run(.login, with: server, answers: person)
        let address = TestRequest("GET", try #require(seen.values.first))
        let proof = try ProofKeyTests.Verified(#require(server.requests[0].headers["DPoP"]), ProofAlgorithm.es256.signature)
        #expect(try address.formValue("dpop_jkt") == ProofKey.thumbprint(of: proof.key))
    }

    @Test func `State, verifier and nonce are different, though the random bytes are the same`() throws {
        let request = try address(["scope": "openid"])
        let values = ["state", "nonce", "code_challenge"].compactMap { request.formValue($0) }
        #expect(Set(values).count == 3)
        #expect(values.allSatisfy { $0.utf8.count == 43 })
    }

    @Test func `The address has what the settings and the account say, and the endpoint's own query`() throws {
        let request = try address(
            [
                "authorization-url": "https://as.test/authorize?tenant=x#part", "scope": "a b", "audience": "api",
                "resource": "https://r/",
                "authorization-parameter": "prompt=login now&x=1", "response-mode": "form-post",
            ],
            account: "ada@example.com")
        #expect(
            request.url.hasPrefix(
                "https://as.test/authorize?tenant=x&response_type=code&client_id=app&redirect_uri=http%3A%2F%2F"))
        #expect(request.url.contains("&code_challenge_method=S256&response_mode=form_post&scope=a%20b&audience=api"))
        #expect(request.url.hasSuffix("&resource=https%3A%2F%2Fr%2F&login_hint=ada%40example.com&prompt=login%20now%26x%3D1"))
    }

    @Test func `Without PKCE nothing speaks of it`() throws {
        let request = try address(["pkce": "false", "client-secret": "s"])
        #expect(!request.url.contains("code_challenge"))
        let server = ScriptedServer([.token()])
        let scheme = try makeClient(["pkce": "false", "client-secret": "s"])
        _ = try scheme.run(.login, with: server, answers: browser("code=c&state=STATE"))
        #expect(server.requests[0].formValue("code_verifier") == nil)
    }

    @Test(arguments: [
        ("error=access_denied&state=STATE", "the login was refused in the browser"),
        (
            "error=access_denied&error_description=No%0D%0Away%1B%5B2J&state=STATE",
            "the login was refused in the browser (No way [2J)"
        ),
        ("error=temporarily_unavailable&state=STATE", "the server can't log anybody in now: temporarily_unavailable"),
        ("error=invalid_scope&state=STATE", "the server does not offer the requested scope; change the setting scope"),
        ("error=odd%00code&state=STATE", "the server refused the login: odd code"),
        ("error=&state=STATE&code=c", "the server refused the login: "),
        ("state=STATE", "the browser's redirect has neither a code nor an error"),
        (
            "code=&state=STATE",
            "the browser's redirect has an invalid code: empty, too long, or with characters that no code has"
        ),
        (
            "code=%FF&state=STATE",
            "the browser's redirect has an invalid code: empty, too long, or with characters that no code has"
        ),
        ("code=a&code=b&state=STATE", "the browser's redirect has 2 values of \"code\"; one of them may be somebody else's"),
        (
            "error=a&error=b&code=c&state=STATE",
            "the browser's redirect has 2 values of \"error\"; one of them may be somebody else's"
        ),
    ])
    func `A redirect without a good code is refused, and nothing is sent`(query: String, message: String) throws {
        #expect(try refusal(query).message == message)
    }

    @Test(arguments: [
        "code=c", "code=c&state=", "code=c&state=other", "code=c&state=STATEx", "code=c&state=STATE&state=STATE",
        "error=access_denied",
    ])
    func `Redirects of other logins are ignored, but not for ever`(query: String) throws {
        let failure = try refusal(query)
        #expect(failure.message.hasPrefix("20 redirects arrived that don't belong to this login"))
        #expect(failure.description.contains("NEVOD_UNAVAILABLE"))
    }

    @Test func `The right redirect counts after others`() throws {
        let seen = Collected<String>()
        let good = try #require(browser("code=c&state=STATE").browse)
        let person = TestPerson(browse: { url in
            seen.append(url)
            return seen.values.count < 20 ? "http://127.0.0.1:49152/callback?code=evil&state=evil" : try good(url)
        })
        _ = try makeClient().run(.login, with: ScriptedServer([.token(containing: ["code=c&"])]), answers: person)
    }

    // MARK: A pasted address

    private func pasting(_ answer: String, _ settings: KeyValuePairs<String, String> = [:]) throws -> FlowResult {
        let scheme = try makeClient(settings)
        return try scheme.run(.login, with: ScriptedServer([.token()]), answers: ["redirect": answer])
    }

    @Test func `Without a browser, a code is pasted`() throws {
        let result = try pasting(" 4/0AX-code\n")
        #expect(
            result.shown[0].hasPrefix(
                "Log in with a browser at this address, then copy the address where it ended: https://as.test/"))
        #expect(result.transcript.contains("ask redirect"))
    }

    @Test(arguments: [
        ("https://example.com/?code=c&state=s", "does not begin with http://127.0.0.1:49152/callback"),
        ("http://127.0.0.1:49153/callback?code=c&state=s", "does not begin with http://127.0.0.1:49152/callback"),
        ("http://127.0.0.1:49152/callback2?code=c&state=s", "does not begin with http://127.0.0.1:49152/callback"),
        ("http://127.0.0.1:49152/callback?code=c&state=s", "does not belong to this login"),
        ("", "is neither an address nor a code"), ("a b", "is neither an address nor a code"),
        ("c\u{F6}de", "is neither an address nor a code"),
    ])
    func `A pasted address is checked like a redirect`(answer: String, problem: String) throws {
        let scheme = try makeClient()
        let failure = try #require(throws: TestFailure.self) { try scheme.run(.login, answers: ["redirect": answer]) }
        #expect(failure.message == "none of 3 pasted addresses can be used: the last one \(problem)")
    }

    @Test func `A code alone is not enough without PKCE`() throws {
        let scheme = try makeClient(["pkce": "false", "client-secret": "s"])
        let failure = try #require(throws: TestFailure.self) { try scheme.run(.login, answers: ["redirect": "c"]) }
        #expect(
            failure.message
                == "none of 3 pasted addresses can be used: the last one is not the whole address, which this server's login needs"
        )
    }

    @Test(arguments: ["urn:ietf:wg:oauth:2.0:oob", "https://app.example.com/cb", "com.example.app:/cb"])
    func `Another redirect URI is pasted even if there is a browser`(uri: String) throws {
        let scheme = try makeClient(["redirect-uri": uri])
        var person: TestPerson = ["redirect": "c"]
        person.browse = { _ in throw Stop() }
        let server = ScriptedServer([.token(containing: ["code=c"])])
        let result = try scheme.run(.login, with: server, answers: person)
        #expect(!result.transcript.contains { $0.hasPrefix("listen") })
        #expect(server.requests[0].formValue("redirect_uri") == uri)
    }

    @Test func `For a browser on another machine, the address is pasted`() throws {
        let server = ScriptedServer([.token()])
        var person: TestPerson = ["redirect": "c"]
        person.browse = { _ in throw Stop() }
        _ = try makeClient(["paste-redirect": "true"]).run(.login, with: server, answers: person)
        #expect(server.requests[0].formValue("redirect_uri") == "http://127.0.0.1/callback")
    }

    // MARK: Settings

    @Test(arguments: [
        "response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method", "nonce", "request_uri",
        "response_mode", "scope", "audience", "resource", "login_hint", "dpop_jkt", "client_secret",
    ])
    func `What the login sets itself, no parameter may set`(name: String) throws {
        let failure = try #require(throws: TestFailure.self) {
            try makeClient(["authorization-parameter": "a=b", "authorization-parameter": "\(name)=x"])
        }
        #expect(failure.subject == "authorization-parameter")
        #expect(failure.message.hasPrefix("must not set \"\(name)\": "))
    }

    @Test(
        arguments: [
            (["pkce": "false"], "pkce", "must be true without client-secret"),
            (["response-mode": "form-post", "paste-redirect": "true"], "response-mode", "must be query if"),
            (
                ["response-mode": "form-post", "redirect-uri": "https://app.example.com/cb"], "response-mode",
                "must be query if"
            ),
            (["par": "always"], "par-url", "is needed for pushed requests"),
            (
                ["authorization-parameter": "a=" + String(repeating: "x", count: 8192)], "authorization-parameter",
                "longer than 8192 bytes"
            ),
        ] as [(KeyValuePairs<String, String>, String, String)])
    func `Settings that can't work are named`(
        settings: KeyValuePairs<String, String>, subject: String, fragment: String
    ) throws {
        let failure = try #require(throws: TestFailure.self) {
            try makeClient(settings).run(.login, answers: browser("code=c&state=STATE"))
        }
        #expect(failure.subject == subject)
        #expect(failure.message.contains(fragment))
    }

    @Test func `A client's identifier is not empty`() throws {
        let failure = try #require(throws: TestFailure.self) { try makeClient(["client-id": ""]) }
        #expect((failure.subject, failure.message) == ("client-id", "must not be empty"))
    }
}
