// Interceptors: `... maxRetryAttempts:`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private let storage = TokenStorage<Token>(storage: InMemoryStorage())

    private func use() async throws {
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage, refreshStrategy: { _ in Token(value: "new") }, maxRetryAttempts: 1)
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
