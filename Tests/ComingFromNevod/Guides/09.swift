// Adding New Authentication Types: Conditional Authentication
import Foundation
import NevodHostFoundation

private let storage = TokenStorage<Token>(storage: InMemoryStorage())
private let refreshStrategy: @Sendable (Token?) async throws -> Token = { _ in throw NetworkError.unauthorized }

private func use() async throws {
    let interceptor = AuthenticationInterceptor(
        tokenStorage: storage,
        refreshStrategy: refreshStrategy,
        shouldAuthenticate: { request in
            request.url?.path.hasPrefix("/shop/") ?? false
        }
    )
    print(interceptor)
}
