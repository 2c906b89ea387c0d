// Interceptors: `RequestInterceptor: retry only`
import Foundation
import NevodHostFoundation

private actor Stamping: RequestInterceptor {
    private var failures = 0

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
