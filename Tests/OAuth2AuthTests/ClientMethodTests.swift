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
}
