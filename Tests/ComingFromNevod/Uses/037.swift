// Interceptors: `RequestInterceptor: adapt only`
import Foundation
import NevodHostFoundation

private actor Stamping: RequestInterceptor {
    private var failures = 0

    func adapt(_ request: URLRequest) async throws -> URLRequest {
        var request = request
        request.setValue("\(failures)", forHTTPHeaderField: "X-Failures")
        return request
    }
}

private func use() async throws {
    let chain = InterceptorChain([Stamping()])
    print(chain)
}
