import Foundation
import NevodHostFoundation

/// Creates the providers, each on its first use.
actor NetworkContainer {
    private let keychain: any KeyValueStorage

    init(keychain: any KeyValueStorage) {
        self.keychain = keychain
    }

    lazy var oauthProvider: NetworkProvider = {
        let storage = TokenStorage<OAuthToken>(storage: keychain)
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { try await refreshOAuth($0) }
        )
        return NetworkProvider(config: config, interceptor: interceptor)
    }()

    lazy var legacyProvider: NetworkProvider = {
        let storage = TokenStorage<CookieToken>(storage: keychain, key: .cookies)
        let interceptor = CookieAuthenticationInterceptor(
            cookieStorage: storage,
            loginStrategy: { try await performLogin() }
        )
        return NetworkProvider(config: config, interceptor: interceptor)
    }()

    lazy var apiKeyProvider: NetworkProvider = {
        let storage = TokenStorage<APIKeyToken>(storage: keychain, key: .apiKey)
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in throw NetworkError.unauthorized }
        )
        return NetworkProvider(config: config, interceptor: interceptor)
    }()
}

private func refreshOAuth(_ old: OAuthToken?) async throws -> OAuthToken {
    guard let old else { throw NetworkError.unauthorized }
    let response: OAuthResponse = try await baseClient.post("/oauth/refresh", body: ["refresh_token": old.refreshToken])
    return OAuthToken(
        accessToken: response.accessToken, refreshToken: response.refreshToken, expiresAt: .now + response.expiresIn)
}

/// Logs in with the host's own types, and keeps the response's cookies with their scope.
private func performLogin() async throws -> CookieToken {
    let route = SimplePostRoute<EmptyResponse, AppDomains>(
        endpoint: "/login", domain: .legacyAPI, parameters: ["email": "ada@example.com", "password": "correct horse"])
    let request = try route.makeRequest(with: config)
    let response = try await NetworkProvider(config: config).send(request)
    let empty = CookieToken(sessionCookies: [])
    guard response.status == 200,
        let session = empty.merging(setCookiesOf: response, to: request, now: HostClock.system.now, addingNew: true)
    else { throw NetworkError.unauthorized }
    return session
}

func container(keychain: some KeyValueStorage) async throws {
    try await TokenStorage<APIKeyToken>(storage: keychain, key: .apiKey).save(APIKeyToken(apiKey: "your-api-key-12345"))
    let container = NetworkContainer(keychain: keychain)
    let me = SimpleGetRoute<Verified, AppDomains>(endpoint: "/users/me", domain: .mainAPI)
    print("container: \(try await container.oauthProvider.perform(me).scheme)")
    let orders = SimpleGetRoute<Verified, AppDomains>(endpoint: "/orders", domain: .legacyAPI)
    print("container: \(try await container.legacyProvider.perform(orders).scheme)")
    let stats = SimpleGetRoute<Verified, AppDomains>(endpoint: "/stats", domain: .adminAPI)
    print("container: \(try await container.apiKeyProvider.perform(stats).scheme)")
}
