// Interceptors: `HeadersInterceptor.userAgent(_:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let interceptor = HeadersInterceptor.userAgent("Shop/1.0")
    print(interceptor)
}
