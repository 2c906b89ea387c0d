// Interceptors: `RequestInterceptor: adapt(URLRequest) / retry`
import Foundation
import NevodHostFoundation

private actor Stamping: RequestInterceptor {
    private var failures = 0

    func adapt(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        request.setValue("\(failures)", forHTTPHeaderField: "X-Failures")
        return request
    }

    func retry(_ request: URLRequest, response: HTTPURLResponse?, error: NetworkError) async throws -> Bool {
        guard case .unauthorized = error, response?.statusCode == 401 else { return false }
        failures += 1
        return failures < 2
    }
}

private func use() async throws {
    let chain = InterceptorChain([Stamping()])
    print(chain)
}
