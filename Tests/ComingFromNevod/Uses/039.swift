// Interceptors: `any RequestInterceptor: adapt(URLRequest) called by hand`
import Foundation
import NevodHostFoundation

private func request() throws -> URLRequest {
    guard let url = URL(string: "https://shop.example/cart") else { throw NetworkError.invalidURL }
    return URLRequest(url: url)
}

private actor Stamping: RequestInterceptor {
    private var failures = 0

    func adapt(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        request.setValue("\(failures)", forHTTPHeaderField: "X-Failures")
        return request
    }
}

private func use() async throws {
    let interceptor: any RequestInterceptor = Stamping()
    let adapted: URLRequest = try await interceptor.adapt(request())
    print(adapted)
}
