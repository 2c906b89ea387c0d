// Interceptors: `HeadersInterceptor.apiVersion(_:headerName:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let interceptors = [
        HeadersInterceptor.apiVersion("2"), HeadersInterceptor.apiVersion("2", headerName: "X-Version"),
    ]
    print(interceptors)
}
