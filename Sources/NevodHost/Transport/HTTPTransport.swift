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

/// What holds for one request, beside the request itself.
public struct TransferOptions: Sendable {
    /// When an answer is returned.
    public enum Delivery: Sendable {
        /// The answer comes when its body is complete; more than `limit` bytes fail the transfer.
        case collected(limit: Int)
        /// The answer comes when its head is complete; the body is an ``HTTPResponseStream``.
        case streamed
    }

    /// Of a transport: for the whole transfer, the body included. Of a provider: for all attempts and redirects of a request
    /// together. Nil: no limit.
    public var timeout: Duration?
    /// For name lookup, connection and TLS.
    public var connectTimeout: Duration
    /// By default collected, up to 64 MiB.
    public var delivery: Delivery
    /// Of the provider; a transport never follows.
    public var redirects: RedirectPolicy
    /// Of the provider; nil: its configuration's.
    public var retryPolicy: RetryPolicy?
    /// Called once for each transfer, at its end, on the transport's thread.
    public var onMetrics: (@Sendable (TransferMetrics) -> Void)?

    /// The defaults: 60 s for all, 30 s for a connection, bodies of up to 64 MiB, 10 redirects, the configuration's retries.
    public init(
        timeout: Duration? = .seconds(60), connectTimeout: Duration = .seconds(30),
        delivery: Delivery = .collected(limit: 64 << 20), redirects: RedirectPolicy = .follow(limit: 10),
        retryPolicy: RetryPolicy? = nil
    ) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.delivery = delivery
        self.redirects = redirects
        self.retryPolicy = retryPolicy
    }
}
