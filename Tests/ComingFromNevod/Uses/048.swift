// Interceptors: `... shouldAuthenticate: (URLRequest)`
import Foundation
import NevodHostFoundation

private let storage = TokenStorage<Token>(storage: InMemoryStorage())

private func use() async throws {
    let interceptor = AuthenticationInterceptor(
        tokenStorage: storage, refreshStrategy: { _ in throw NetworkError.unauthorized },
        shouldAuthenticate: { $0.url?.host == "shop.example" })
    print(interceptor)
}
