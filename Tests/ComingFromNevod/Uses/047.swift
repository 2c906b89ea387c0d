// Interceptors: `AuthenticationInterceptor(tokenStorage:refreshStrategy:)`
import Foundation
import NevodHostFoundation

private let storage = TokenStorage<Token>(storage: InMemoryStorage())

private func use() async throws {
    let interceptor = AuthenticationInterceptor(
        tokenStorage: storage,
        refreshStrategy: { old in
            guard let old else { throw NetworkError.unauthorized }
            return Token(value: old.value + "+")
        })
    print(interceptor)
}
