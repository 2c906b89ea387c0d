import NevodHostFoundation

struct Profile: Decodable {
    let name: String
}

/// A user's session with one service: its token, and the provider that sends it.
struct Session {
    let storage: TokenStorage<OAuthToken>
    let provider: NetworkProvider
    /// Without the chain: for the token endpoint.
    private let client: NetworkProvider

    init(storage: some KeyValueStorage) {
        let client = NetworkProvider.quick(baseURL: "http://api.example.com")
        let tokens = TokenStorage<OAuthToken>(storage: storage, key: "com.example.session")
        let authentication = AuthenticationInterceptor(
            tokenStorage: tokens,
            refreshStrategy: { old in
                guard let old, let refreshToken = old.refreshToken else { throw NetworkError.unauthorized }
                let new: OAuthToken = try await client.request(
                    .post, path: "/token", body: ["grant_type": "refresh_token", "refresh_token": refreshToken])
                return new.keepingRefreshToken(of: old)
            })

        self.client = client
        self.storage = tokens
        provider = NetworkProvider.quick(baseURL: "http://api.example.com", interceptor: authentication)
    }

    func signIn(email: String, password: String) async throws {
        let token: OAuthToken = try await client.request(
            .post, path: "/token", body: ["grant_type": "password", "email": email, "password": password])
        try await storage.save(token)
    }

    func signOut() async throws {
        try await storage.clear()
    }
}
