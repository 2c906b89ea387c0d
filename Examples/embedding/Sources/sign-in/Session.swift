import NevodHostFoundation

struct Profile: Decodable {
    let name: String
}

/// A user's session with one service: its token, and the provider that sends it.
struct Session {
    let storage: TokenStorage<OAuthToken>
    let provider: NetworkProvider
    private let client: OAuthClient

    init(storage: some KeyValueStorage, issuer: String) throws {
        let client = try OAuthClient(issuer: issuer, clientID: "app")
        let tokens = TokenStorage<OAuthToken>(storage: storage, key: "com.example.session")
        let authentication = AuthenticationInterceptor(tokenStorage: tokens, refreshStrategy: client.refresh)

        self.client = client
        self.storage = tokens
        provider = NetworkProvider.quick(baseURL: "http://api.example.com", interceptor: authentication)
    }

    func signIn(email: String, password: String) async throws {
        let token = try await client.token(grant: "password", parameters: ["username": email, "password": password])
        try await storage.save(token)
    }

    func signOut() async throws {
        let token = try await storage.load()
        try await storage.clear()
        if let token { try await client.revoke(token) }
    }
}
