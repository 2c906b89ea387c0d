/// What a transport obeys in one transfer. (``RequestOptions``, in contrast, are for a request with all its attempts and
/// redirects, and a provider's.)
public struct TransferOptions: Sendable {
    /// When an answer is returned.
    public enum Delivery: Sendable {
        /// The answer comes when its body is complete; more than `limit` bytes fail the transfer.
        case collected(limit: Int)
        /// The answer comes when its head is complete; the body is an ``HTTPResponseStream``.
        case streamed
    }

    /// For the whole transfer, the body included; nil for no limit.
    public var timeout: Duration?
    /// For name lookup, connection and TLS.
    public var connectTimeout: Duration
    /// By default collected, up to 64 MiB.
    public var delivery: Delivery
    /// Called once for each transfer, at its end, on the transport's thread.
    public var onMetrics: (@Sendable (TransferMetrics) -> Void)?

    /// The defaults: 60 s for the transfer, 30 s for a connection, bodies of up to 64 MiB.
    public init(
        timeout: Duration? = .seconds(60), connectTimeout: Duration = .seconds(30),
        delivery: Delivery = .collected(limit: 64 << 20)
    ) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.delivery = delivery
    }
}
