import NevodPluginTesting
import NevodSupport
import Testing

@testable import OAuth2Auth

struct ClientMethodTests {
    @Test(
        arguments: [
            (false, false, [], .none), (false, false, ["client_secret_basic"], .none),
            (false, true, [], .basic), (false, true, ["client_secret_basic", "client_secret_post"], .basic),
            (false, true, ["client_secret_post", "none"], .post), (false, true, ["client_secret_jwt"], .clientSecretJWT),
            (false, true, ["client_secret_jwt", "client_secret_post"], .post), (false, true, ["tls_client_auth"], .basic),
            (true, false, [], .privateKeyJWT), (true, false, ["client_secret_basic"], .privateKeyJWT),
            (true, true, [], .privateKeyJWT), (true, true, ["private_key_jwt"], .privateKeyJWT),
            (true, true, ["client_secret_post"], .post),
        ] as [(Bool, Bool, [String], ClientMethod)])
    func `The method follows from what the client has and the server takes`(
        _ hasKey: Bool, _ hasSecret: Bool, _ offered: [String], _ expected: ClientMethod
    ) {
        #expect(ClientMethod.automatic(hasKey: hasKey, hasSecret: hasSecret, offered: offered) == expected)
    }

    /// Too short to look like a token.
    @Test(arguments: ["YXBwOm9obm8=", "YXBwOm9obm8", "YXBwOm9obm8%3D"])
    func `A refusal repeats nothing of HTTP Basic`(_ echo: String) throws {
        let denied = TestResponse.json(
            .object([JSONValue.Member("error", "invalid_client"), JSONValue.Member("error_description", .string("no (\(echo))"))]
            ),
            status: 401)
        let scheme = try makeClient(["grant": "client-credentials", "client-secret": "ohno"])
        let server = ScriptedServer([.expect("POST", "/token", containing: ["Authorization: Basic"], denied)])
        let failure = try #require(throws: TestFailure.self) { try scheme.run(.login, with: server) }
        #expect(failure.message.contains("invalid_client; check"), "\(failure)")
        #expect(!failure.message.contains("YXBw"))
    }
}
