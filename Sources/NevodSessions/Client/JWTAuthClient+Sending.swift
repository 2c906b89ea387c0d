public import NevodHost
internal import NevodHostFoundation

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension JWTAuthClient {
    // MARK: As the endpoint says

    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
        try await provider.send(endpoint)
    }

    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>, uploadProgress: ProgressHandler?) async throws -> T {
        try await provider.send(endpoint, uploadProgress: uploadProgress)
    }

    public func response<T: Decodable & Sendable>(for endpoint: Endpoint<T>) async throws -> HTTPResponse {
        try await provider.response(for: endpoint)
    }

    /// Sends an endpoint as it is: without a token, unless its `auth` asks for one.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint.
    ///   - session: the transport of this request; nil for the client's.
    ///   - middleware: further changes for this request.
    /// - Throws: `NetworkError` if there is no response, if the response is unsuccessful, or if its body isn't a `Success`.
    @_disfavoredOverload
    public func send<Success: Decodable & Sendable>(
        _ endpoint: Endpoint<Success>, session: (any HTTPTransport)? = nil,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> SuccessResponse<Success> {
        try await success(of: endpoint, by: provider, session, middleware())
    }

    /// The same for a service that describes its errors.
    ///
    /// - Returns: a failure for any unsuccessful status, if the body is a `Failure`; otherwise the status is thrown.
    @_disfavoredOverload
    public func send<Success: Decodable & Sendable, Failure: Decodable & Sendable>(
        _ endpoint: Endpoint<Success>, session: (any HTTPTransport)? = nil,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> Response<Success, Failure> {
        try await response(to: endpoint, by: provider, session, middleware())
    }

    // MARK: With the session's token

    /// Sends an endpoint with the session's access token, whatever its `auth`.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint.
    ///   - refreshExpiredToken: whether to renew a token that has expired, is about to, or is refused by the server. If false, an
    ///     expired token fails the request, and a refused one returns the server's 401.
    ///   - session: the transport of this request; nil for the client's. Renewals use the token provider's transport.
    ///   - middleware: further changes for this request.
    /// - Throws: ``SessionError``, with nothing sent, if no session is stored, or if its token has expired and may not be
    ///   renewed; `NetworkError` in all other cases: `unauthorized` if the server has ended the session, `authenticationFailed`
    ///   if the token could not be renewed now.
    public func sendAuthenticated<Success: Decodable & Sendable>(
        _ endpoint: Endpoint<Success>, refreshExpiredToken: Bool = true, session: (any HTTPTransport)? = nil,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> SuccessResponse<Success> {
        try await success(of: endpoint.auth(.bearerToken), by: sender(refreshExpiredToken), session, middleware())
    }

    /// The same for a service that describes its errors.
    ///
    /// - Returns: a failure for any unsuccessful status, if the body is a `Failure`; otherwise the status is thrown.
    public func sendAuthenticated<Success: Decodable & Sendable, Failure: Decodable & Sendable>(
        _ endpoint: Endpoint<Success>, refreshExpiredToken: Bool = true, session: (any HTTPTransport)? = nil,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> Response<Success, Failure> {
        try await response(to: endpoint.auth(.bearerToken), by: sender(refreshExpiredToken), session, middleware())
    }

    /// The same for a response that isn't decoded: `data` is its body.
    public func sendAuthenticated(
        _ endpoint: Endpoint<[UInt8]>, refreshExpiredToken: Bool = true, session: (any HTTPTransport)? = nil,
        @RequestMiddlewareBuilder middleware: () -> [RequestMiddleware] = RequestMiddlewareBuilder.none
    ) async throws -> SuccessResponse<[UInt8]> {
        try await success(of: endpoint.auth(.bearerToken), by: sender(refreshExpiredToken), session, middleware())
    }

    // MARK: Shared

    private func sender(_ renews: Bool) -> NetworkProvider {
        renews ? provider : withoutRenewal
    }

    private func success<Success: Decodable & Sendable>(
        of endpoint: Endpoint<Success>, by provider: NetworkProvider, _ session: (any HTTPTransport)?,
        _ middleware: [RequestMiddleware]
    ) async throws -> SuccessResponse<Success> {
        let plan = RequestPlan(
            middleware, session: session, options: RequestOptions(timeout: provider.config.timeout))
        do throws(NetworkError) {
            let (response, value) = try await plan.provider(from: provider).decodedResponse(to: endpoint, options: plan.options)
            return SuccessResponse(data: value, response: response)
        } catch {
            if case .authorization(let reason as SessionError) = error { throw reason }
            throw error
        }
    }

    private func response<Success: Decodable & Sendable, Failure: Decodable & Sendable>(
        to endpoint: Endpoint<Success>, by provider: NetworkProvider, _ session: (any HTTPTransport)?,
        _ middleware: [RequestMiddleware]
    ) async throws -> Response<Success, Failure> {
        do {
            return .success(try await success(of: endpoint, by: provider, session, middleware))
        } catch let error as NetworkError where error.isHTTPError {
            guard let body = error.responseBody,
                let failure = try? provider.config.decoder.value(Failure.self, in: body)
            else { throw error }
            return .failure(FailureResponse(error: failure, networkError: error))
        }
    }
}

/// Requests through the app's own `URLSession`, such as `sendAuthenticated(.get("/user/profile"), urlSession: .authOptimized)`.
/// The other parameters are the same as in the methods that take any transport.
extension JWTAuthClient {
    /// Sends an endpoint with the session's access token through a `URLSession`.
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
