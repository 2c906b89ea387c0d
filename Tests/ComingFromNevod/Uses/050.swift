// Interceptors: `... retryBackoff:`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage, refreshStrategy: { _ in Token(value: "new") }, retryBackoff: 0.5)
        print(interceptor)
    }
#else
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage, refreshStrategy: { _ in Token(value: "new") })
        print(interceptor)
    }
#endif
