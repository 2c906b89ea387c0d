// Authentication Guide: Custom Token Types
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

private struct OAuthService {
    func renew(refreshToken: String) async throws -> Issued {
        Issued(accessToken: "a", refreshToken: refreshToken, expiresIn: 60)
    }
}

private let oauthService = OAuthService()

private let drawer = InMemoryStorage()

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

private func use() async throws {
    let storage = TokenStorage<OAuthToken>(storage: drawer)
    let authInterceptor = AuthenticationInterceptor(
        tokenStorage: storage,
        refreshStrategy: { oldToken in
            guard let oldToken = oldToken else {
                throw NetworkError.unauthorized
            }
            let issued: Issued = try await oauthService.renew(
                refreshToken: oldToken.refreshToken
            )
            return OAuthToken(
                accessToken: issued.accessToken,
                refreshToken: issued.refreshToken,
                expiresAt: Date().addingTimeInterval(issued.expiresIn)
            )
        }
    )
    print(authInterceptor)
}
