public import NevodHost

#if canImport(FoundationNetworking)
    internal import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension NetworkProvider {
    /// Sends a route's request, and returns its decoded response.
    ///
    /// - Parameters:
    ///   - route: the route.
    ///   - delegate: is told, if the transport is a `URLSession`, of the bytes sent (`didSendBodyData`) and of the end of each attempt
    ///     (`didCompleteWithError`). It decides nothing: redirects and challenges are the host's. Other transports don't call it.
    /// - Throws: always a `NetworkError`.
    public func perform<R: Route>(
        _ route: R, delegate: (any URLSessionTaskDelegate)?
    ) async throws -> R.Response where R.Response: Sendable {
        try await RequestDelegate.$current.withValue(delegate) { try await perform(route) }
    }

    /// Like `perform(_:delegate:)`, but returns the error as a value.
    public func request<R: Route>(
        _ route: R, delegate: (any URLSessionTaskDelegate)?
    ) async -> Result<R.Response, NetworkError> where R.Response: Sendable {
        await RequestDelegate.$current.withValue(delegate) { await request(route) }
    }
}
