// Interceptors: `AuthenticationInterceptor.adapt(URLRequest) by hand`
import Foundation
import NevodHostFoundation

private func request() throws -> URLRequest {
    guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
    return URLRequest(url: url)
}

private func use() async throws {
    let interceptor = AuthenticationInterceptor(
        tokenStorage: TokenStorage<Token>(storage: InMemoryStorage()), refreshStrategy: { _ in Token(value: "new") })
    let adapted = try await interceptor.adapt(request())
    print(adapted.value(forHTTPHeaderField: "Authorization") ?? "")
}
