import NevodSessions

/// Verifies an issuer's tokens, here and before new ones are stored.
struct Verification: Sendable {
    let validator: TokenValidator

    init(issuer: String, session: any HTTPTransport = CurlSession()) {
        let keys = RemoteKeySet(issuer: issuer, session: session)
        let verifier = JWTVerifier(algorithms: [.es256, .rs256], issuer: issuer, audience: "shop")
        validator = TokenValidator(verifier: verifier, keys: keys)
    }

    func user(of tokens: AuthTokens) async throws -> String? {
        let validation = try await validator.validate(tokens)
        return validation.isExpired ? nil : validation.claims.subject
    }

    func verifying(_ tokenProvider: some TokenProvider) -> some TokenProvider {
        VerifyingTokenProvider(tokenProvider, validator: validator)
    }
}
