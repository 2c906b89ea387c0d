// Interceptors: `LoggingInterceptor()`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let interceptor = LoggingInterceptor()
    print(interceptor)
}
