internal import NevodPluginKit
internal import NevodSupport

extension OAuth2Auth {
    /// The lifetime of an assertion in seconds: it is sent at once, and must be of no use to whoever finds it later.
    static let assertionLifetime = 60

    static let clientKeyNames = AssertionSigner.Names(key: "client-key", algorithm: "client-key-alg")
    static let clientSecretNames = AssertionSigner.Names(key: "client-secret", algorithm: "client-key-alg")

    /// A token that proves who the client is (RFC 7523 §3, OpenID Connect Core §9): valid once, for a minute, at this server.
    func clientAssertion(
        _ signer: AssertionSigner, _ clientID: String, at endpoints: Endpoints, _ flow: AuthFlow
    ) throws(SchemeError) -> Secret {
        let now = flow.unixSeconds
        return try signer.token(
            [
                JSONValue.Member("iss", .string(clientID)), JSONValue.Member("sub", .string(clientID)),
                JSONValue.Member("aud", .string(clientAudience(at: endpoints))),
                JSONValue.Member("jti", .string(try flow.identifier(for: "client assertion"))),
                JSONValue.Member("iat", .integer(now)), JSONValue.Member("exp", .integer(now + Int64(Self.assertionLifetime))),
            ],
            accepted: endpoints.assertionAlgorithms)
    }

    /// The issuer, if it is known: a server that is an attacker's names another one's token endpoint in its metadata, and could
    /// use there an assertion that is for that address. It can't name another issuer, because that is compared with the setting.
    func clientAudience(at endpoints: Endpoints) -> String {
        clientAssertionAudience ?? endpoints.issuer ?? endpoints.token
    }
}
