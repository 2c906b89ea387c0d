import NevodHostFoundation

/// Some endpoints need a token; others must not get one.
func conditionalAuthentication(keychain: some KeyValueStorage) async throws {
    let storage = TokenStorage<OAuthToken>(storage: keychain)
    let interceptor = AuthenticationInterceptor(
        tokenStorage: storage,
        refreshStrategy: { _ in throw NetworkError.unauthorized },
        shouldAuthenticate: { request in
            request.url?.path.hasPrefix("/api/") ?? false
        }
    )
    let provider = NetworkProvider(config: config, interceptor: interceptor)
    for endpoint in ["/api/users", "/public/terms"] {
        let response = try await provider.perform(SimpleGetRoute<Verified, AppDomains>(endpoint: endpoint, domain: .mainAPI))
        print("\(endpoint): \(response.scheme)")
    }
}
