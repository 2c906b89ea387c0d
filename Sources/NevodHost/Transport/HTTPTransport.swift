/// Sends one request and returns one response, without redirects, retries or credentials of its own. (An interceptor, in
/// contrast, changes a request and never sends one.)
///
/// ```swift
/// struct Canned: HTTPTransport {
///     func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
///         HTTPResponse(version: .http11, status: 204, reason: "No Content", headers: HTTPHeaders(), body: .bytes([]))
///     }
/// }
/// ```
public protocol HTTPTransport: Sendable {
    /// The executor of this transport, or nil. A provider runs a request's work on it, which avoids thread hops.
    var executor: (any TaskExecutor)? { get }

    /// Whether the transport undoes the content coding of bodies (RFC 9110 §8.4), so that the bytes as received are not known.
    /// False by default.
    var decodesContent: Bool { get }

    /// Writes every header line that this transport would add itself, so that a signer sees everything that is sent.
    func prepare(_ request: inout HTTPRequest)

    /// Sends the request unchanged and returns the response, whatever its status. Cancelling the task cancels the transfer.
    ///
    /// - Throws: if no response arrived; with ``TransportError/Code/cancelled`` if the task was cancelled.
    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse
}

extension HTTPTransport {
    public var executor: (any TaskExecutor)? { nil }

    public var decodesContent: Bool { false }

    /// Writes Host and the line for the body's length.
    public func prepare(_ request: inout HTTPRequest) {
        request.materialize()
    }
}
