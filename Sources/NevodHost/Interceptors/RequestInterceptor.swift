/// Changes a request on its way out, and judges what came of it. (A transport, in contrast, sends one and changes nothing.)
///
/// ```swift
/// struct Tracing: RequestInterceptor {
///     func adapt(_ exchange: inout Exchange) async throws {
///         try exchange.request.setHeader("X-Attempt", String(exchange.attempt))
///     }
/// }
/// ```
public protocol RequestInterceptor: Sendable {
    /// Before the request is sent, on every attempt. The order of a chain is first to last.
    func adapt(_ exchange: inout Exchange) async throws

    /// After an answer or a failure: true to send the request again. The order of a chain is last to first. Not asked for a
    /// request whose body can be read only once.
    func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool
}

extension RequestInterceptor {
    public func adapt(_ exchange: inout Exchange) async throws {}

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool { false }
}
