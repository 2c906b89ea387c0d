// Interceptors: `InterceptorChain([..]).adapt(URLRequest) by hand`
import Foundation
import NevodHostFoundation

private func request() throws -> URLRequest {
    guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
    return URLRequest(url: url)
}

private func use() async throws {
    let chain = InterceptorChain([HeadersInterceptor(headers: ["X-Shop": "1"])])
    let adapted = try await chain.adapt(request())
    print(adapted.allHTTPHeaderFields ?? [:])
}
