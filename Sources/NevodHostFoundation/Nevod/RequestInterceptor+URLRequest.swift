public import NevodHost

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension RequestInterceptor {
    /// Returns a `URLRequest` as the interceptor changes it, outside a provider: nothing is sent.
    ///
    /// - Parameters:
    ///   - request: its body, if any, must be in memory (`httpBody`).
    ///   - attempt: the number of the attempt that the interceptor is told, from 1.
    /// - Throws: the interceptor's errors; `InvalidRequestError` for a request that can't be sent, such as one without a URL.
    public func adapt(_ request: URLRequest, attempt: Int = 1) async throws -> URLRequest {
        var request = request
        request.update(from: try await adapted(HTTPRequest(request), attempt: attempt))
        return request
    }
}
