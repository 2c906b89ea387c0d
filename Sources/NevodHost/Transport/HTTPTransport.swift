/// Sends one request and returns one answer: no redirects, no retries, no credentials of its own. (An interceptor, in
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
    /// Where this transport does its work, so that a request's own work can run there too, without a thread hop.
    var executor: (any TaskExecutor)? { get }

    /// Writes every line that this transport would add by itself, so that a signer sees all that is sent.
    func prepare(_ request: inout HTTPRequest)

    /// Sends the request as it stands. An answer of any status is an answer; an error means that none came. When the task is
    /// cancelled, so is the transfer, and the error is ``TransportError/Code/cancelled``.
    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse
}

extension HTTPTransport {
    public var executor: (any TaskExecutor)? { nil }

    /// Host, and the length of the body.
    public func prepare(_ request: inout HTTPRequest) {
        request.materialize()
    }
}
