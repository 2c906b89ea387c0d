import NevodSessions

/// Asks the authorization server about tokens, and ends them at a logout.
struct TokenService: Sendable {
    let introspection: TokenIntrospection
    let revocation: TokenRevocation

    init(url: String, secret: Secret, session: any HTTPTransport = CurlSession()) {
        let client = ClientAuthentication.basic(id: "shop", secret: secret)
        let provider = NetworkProvider(session: session)
        introspection = TokenIntrospection(endpoint: "\(url)/introspect", authentication: client, provider: provider)
        revocation = TokenRevocation(endpoint: "\(url)/revoke", authentication: client, provider: provider)
    }

    func mayOrder(_ tokens: AuthTokens) async throws -> Bool {
        let token = try await introspection.introspect(tokens.accessToken, hint: .accessToken)
        return token.isActive && token.scopes.contains("orders")
    }

    func logOut<User>(_ storage: SessionStorage<User>) async throws {
        let tokens = await storage.loadTokens()
        try await storage.clearAll()
        if let tokens { try await revocation.revoke(tokens) }
    }
}
