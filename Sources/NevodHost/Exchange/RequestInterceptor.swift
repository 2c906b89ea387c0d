/// Changes a request on its way out, and judges what came of it. (A transport, in contrast, sends one and changes nothing.)
///
/// Write one against the exchange, which knows who wrote what and which attempt it is:
///
/// ```swift
/// struct Tracing: RequestInterceptor {
///     func adapt(_ exchange: inout Exchange) async throws {
///         try exchange.request.setHeader("X-Attempt", String(exchange.attempt))
///     }
/// }
/// ```
///
/// or against a request alone, be it an ``HTTPRequest`` or another library's, such as Foundation's `URLRequest`. All four
/// methods have defaults.
public protocol RequestInterceptor: Sendable {
    /// The type of request that this interceptor is written against.
    associatedtype Request: RequestRepresentation = HTTPRequest

    /// ``TokenPhase/signature`` for one that must see the request as it will be sent: it comes after all others, wherever it
    /// stands in a chain.
    var phase: TokenPhase { get }

    /// Before the request is sent, on every attempt. The order of a chain is first to last.
    func adapt(_ exchange: inout Exchange) async throws

    /// After every answer and every failure: true to send the request again. The order of a chain is last to first. A
    /// request whose body can be read only once is not sent again, whatever the answer.
    func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool

    /// The same for a request alone.
    func adapt(_ request: Request) async throws -> Request

    /// The same after a failure, or an answer of status 400 or higher, seen as an error.
    ///
    /// - Parameters:
    ///   - request: as it was sent.
    ///   - response: nil where none came, or none that the other library can express.
    func retry(_ request: Request, response: Request.Response?, error: NetworkError) async throws -> Bool
}

/// For those that are written against the native request: there is nothing to convert, and the exchange is at hand.
extension RequestInterceptor where Request == HTTPRequest {
    public func adapt(_ exchange: inout Exchange) async throws {
        exchange.request = try await adapt(exchange.request)
    }
}

extension RequestInterceptor {
    public var phase: TokenPhase { .credential }

    public func adapt(_ exchange: inout Exchange) async throws {
        let shaped = try await Exchange.$current.withValue(exchange) { try await adapt(Request(exchange.request)) }
        try shaped.write(to: &exchange.request)
    }

    public func retry(
        _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
    ) async throws -> Bool {
        guard let error = NetworkError(outcome) else { return false }
        let response = (try? outcome.get()).flatMap { Request.response($0, to: exchange.request) }
        return try await Exchange.$current.withValue(exchange) {
            try await retry(Request(exchange.request), response: response, error: error)
        }
    }

    public func adapt(_ request: Request) async throws -> Request { request }

    public func retry(_ request: Request, response: Request.Response?, error: NetworkError) async throws -> Bool { false }
}
