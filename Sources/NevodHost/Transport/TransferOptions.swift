/// Options for one transfer by an ``HTTPTransport``. (``RequestOptions``, in contrast, apply to a request with all its attempts
/// and redirects by a ``NetworkProvider``.)
public struct TransferOptions: Sendable {
    /// How the body of a response is delivered.
    public enum Delivery: Sendable {
        /// The response is returned when its body is complete. A body of more than `limit` bytes fails the transfer.
        case collected(limit: Int)
        /// The response is returned when its header lines are complete; the body is an ``HTTPResponseStream``.
        case streamed
    }

    /// Limits the whole transfer, including the body; nil for no limit.
    public var timeout: Duration?
    /// Limits name lookup, connection and TLS handshake.
    public var connectTimeout: Duration
    /// How the body is delivered; by default collected, up to 64 MiB.
    public var delivery: Delivery
    /// The user whom a private response to the request is for, in any form that tells users apart, such as an account's number. A
    /// ``CachingSession`` then uses the response for this owner's requests, whatever their lines, instead of for requests with equal
    /// lines. Credentials are told apart in any case. Nil if the request doesn't say.
    public var cacheOwner: String?
    /// Whether a server that asks for the transport's client certificate gets it. A ``NetworkProvider`` leaves it out once a redirect
    /// has led to another origin, which would learn from it who the client is.
    public var sendsClientCertificate = true
    /// Whether the request is sent at most once. Otherwise a transport may send it again, whatever its method, if a kept
    /// connection closes before the response begins, though the server may have acted on it. ``CurlSession`` opens a new
    /// connection for such a request.
    public var sendsOnce = false
    /// Called once when each transfer completes or fails, on the transport's thread.
    public var onMetrics: (@Sendable (TransferMetrics) -> Void)?
    /// Called once on the transport's thread, when the head of the response begins or the transfer fails, also without a connection.
    /// Nil if nothing needs the details, which take some microseconds with TLS.
    public var onConnection: (@Sendable (ConnectionDetails) -> Void)?

    /// Creates options. By default, a transfer may take 60 s, a connection 30 s, and a body may have 64 MiB.
    public init(
        timeout: Duration? = .seconds(60), connectTimeout: Duration = .seconds(30),
        delivery: Delivery = .collected(limit: 64 << 20)
    ) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.delivery = delivery
    }
}
