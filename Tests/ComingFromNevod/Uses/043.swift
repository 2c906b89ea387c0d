// Interceptors: `InterceptorChain([any])`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let parts: [any RequestInterceptor] = [HeadersInterceptor(headers: ["X-Shop": "1"])]
    let chain = InterceptorChain(parts)
    print(chain)
}
