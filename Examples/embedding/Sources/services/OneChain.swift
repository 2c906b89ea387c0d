import NevodHostFoundation

/// Six services with six schemes behind one provider.
func oneChain(keychain: some KeyValueStorage, userDefaults: some KeyValueStorage) async throws {
    let apiKeyStorage = TokenStorage<APIKeyToken>(storage: userDefaults, key: .apiKey)
    try await apiKeyStorage.save(APIKeyToken(apiKey: "your-api-key-12345", headerName: "X-API-Key"))
    let apiKeyInterceptor = AuthenticationInterceptor(
        tokenStorage: apiKeyStorage,
        refreshStrategy: { _ in throw NetworkError.unauthorized },
        shouldAuthenticate: { $0.url?.host == "admin.example.com" }
    )

    let queryStorage = TokenStorage<QueryAPIKeyToken>(storage: userDefaults, key: .mapsKey)
    try await queryStorage.save(QueryAPIKeyToken(apiKey: "your-api-key-12345", paramName: "api_key"))
    let queryInterceptor = AuthenticationInterceptor(
        tokenStorage: queryStorage,
        refreshStrategy: { _ in throw NetworkError.unauthorized },
        shouldAuthenticate: { $0.url?.host == "maps.example.com" }
    )

    let provider = NetworkProvider(
        config: config,
        interceptor: InterceptorChain([
            try await oauthInterceptor(keychain: keychain),
            apiKeyInterceptor,
            cookieInterceptor(keychain: keychain, email: "ada@example.com", password: "correct horse"),
            queryInterceptor,
            try await customHeaderInterceptor(keychain: keychain),
            try await hmacInterceptor(keychain: keychain),
        ])
    )

    for (domain, endpoint) in [
        (AppDomains.mainAPI, "/users/me"), (.adminAPI, "/stats"), (.legacyAPI, "/orders"), (.mapsAPI, "/geocode?city=Oslo"),
        (.partnerAPI, "/offers"),
    ] {
        let response = try await provider.perform(SimpleGetRoute<Verified, AppDomains>(endpoint: endpoint, domain: domain))
        print("\(domain.identifier): \(response.scheme)")
    }
    let signed = try await provider.perform(
        SimplePostRoute<Verified, AppDomains>(endpoint: "/orders", domain: .signedAPI, parameters: ["item": "net"]))
    print("signed: \(signed.scheme)")
}
