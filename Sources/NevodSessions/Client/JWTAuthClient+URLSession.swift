public import NevodHost
internal import NevodHostFoundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Requests by a `URLSession` of the app, as `sendAuthenticated(.get("/user/profile"), urlSession: .authOptimized)`. The other
/// parameters are those of the methods that take any transport.
extension JWTAuthClient {
    /// Sends an endpoint with the session's access token by a `URLSession`.
    public func sendAuthenticated<Success: Decodable & Sendable>(
        _ endpoint: Endpoint<Success>, refreshExpiredToken: Bool = true, urlSession: URLSession,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> SuccessResponse<Success> {
        try await sendAuthenticated(
            endpoint, refreshExpiredToken: refreshExpiredToken, session: urlSession, middleware: middleware)
    }

    /// The same for a service that describes its errors.
    public func sendAuthenticated<Success: Decodable & Sendable, Failure: Decodable & Sendable>(
        _ endpoint: Endpoint<Success>, refreshExpiredToken: Bool = true, urlSession: URLSession,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> Response<Success, Failure> {
        try await sendAuthenticated(
            endpoint, refreshExpiredToken: refreshExpiredToken, session: urlSession, middleware: middleware)
    }

    /// The same for a response that isn't decoded: `data` is its body.
    public func sendAuthenticated(
        _ endpoint: Endpoint<[UInt8]>, refreshExpiredToken: Bool = true, urlSession: URLSession,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> SuccessResponse<[UInt8]> {
        try await sendAuthenticated(
            endpoint, refreshExpiredToken: refreshExpiredToken, session: urlSession, middleware: middleware)
    }
}
