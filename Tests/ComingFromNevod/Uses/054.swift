// Interceptors: `LoggingInterceptor(logger:hideHeaderFields:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let interceptor = LoggingInterceptor(logger: NevodLogger(), hideHeaderFields: ["X-Cart"])
    print(interceptor)
}
