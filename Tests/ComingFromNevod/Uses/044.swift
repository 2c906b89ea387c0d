// Interceptors: `HeadersInterceptor(headers:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let interceptor = HeadersInterceptor(headers: ["X-Shop": "1"])
    print(interceptor)
}
