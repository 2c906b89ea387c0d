// Authentication Guide: Multiple Authentication Methods
// The guide leaves a refresh strategy and the login out.
import Foundation
import NevodHostFoundation

private struct OAuthToken: TokenModel, Codable {
    let accessToken: String
    let refreshToken: String
    let expiresAt: Date

    func authorize(_ request: inout URLRequest) {
        request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
    }

    func encode() throws -> Data {
        try JSONEncoder().encode(self)
    }

    static func decode(from data: Data) throws -> Self {
        try JSONDecoder().decode(Self.self, from: data)
    }
}

private struct Issued: Decodable, Sendable {
    let accessToken: String
    let refreshToken: String
    let expiresIn: TimeInterval
}

private let drawer = InMemoryStorage()
private let config = NetworkConfig(environments: [Shops.main: SimpleEnvironment(baseURL: "https://shop.example")])

private enum Shops: ServiceDomain {
    case main
    case stock
    case basket

    var identifier: String {
        switch self {
        case .main: return "main"
        case .stock: return "stock"
        case .basket: return "basket"
        }
    }
}

private func use() async throws {
    let oauthStorage = TokenStorage<OAuthToken>(storage: drawer)
    let oauthInterceptor = AuthenticationInterceptor(
        tokenStorage: oauthStorage,
        refreshStrategy: { _ in throw NetworkError.unauthorized },
        shouldAuthenticate: { $0.url?.host == "shop.example" }
    )
    let apiKeyStorage = TokenStorage<APIKeyToken>(storage: drawer)
    let apiKeyInterceptor = AuthenticationInterceptor(
        tokenStorage: apiKeyStorage,
        refreshStrategy: { _ in throw NetworkError.unauthorized },
        shouldAuthenticate: { $0.url?.host == "stock.example" }
    )
    let cookieStorage = TokenStorage<CookieToken>(storage: drawer)
    let cookieInterceptor = CookieAuthenticationInterceptor(
        cookieStorage: cookieStorage,
        loginStrategy: { throw NetworkError.unauthorized },
        shouldAuthenticate: { $0.url?.host == "basket.example" }
    )
    let provider = NetworkProvider(
        config: config,
        interceptor: InterceptorChain([
            oauthInterceptor,
            apiKeyInterceptor,
            cookieInterceptor,
        ])
    )
    print(provider)
}
