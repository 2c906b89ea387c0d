// README: With Simple Bearer Token
import Foundation
import NevodHostFoundation

private struct AuthService {
    func newToken(_ old: String?) async throws -> String { (old ?? "") + "+" }
}

private let authService = AuthService()

private let drawer = InMemoryStorage()

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])

private func use() async throws {
    let storage = TokenStorage<Token>(storage: drawer)
    let authInterceptor = AuthenticationInterceptor(
        tokenStorage: storage,
        refreshStrategy: { oldToken in
            let newTokenValue = try await authService.newToken(oldToken?.value)
            return Token(value: newTokenValue)
        }
    )
    let provider = NetworkProvider(config: config, interceptor: authInterceptor)
    print(provider)
}
