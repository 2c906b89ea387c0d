/// Where the time of one transfer went. Each time counts from its start, in seconds; zero for what did not happen, a name
/// lookup on a kept connection for one.
public struct TransferMetrics: Sendable, Hashable {
    /// The host's address is known.
    public var nameLookup = 0.0
    /// The connection to the host, or its proxy, stands.
    public var connect = 0.0
    /// The TLS handshake is done.
    public var tls = 0.0
    /// The first byte of the answer.
    public var firstByte = 0.0
    /// The answer is complete, or the transfer has failed.
    public var total = 0.0
    /// Of the bodies, in bytes, as they went over the wire.
    public var uploaded = 0
    /// Of the answer's body alone, before decompression.
    public var downloaded = 0
    /// Whether a connection was made for it.
    public var newConnections = 0

    /// For transports; what one doesn't know stays zero.
    public init(
        nameLookup: Double = 0, connect: Double = 0, tls: Double = 0, firstByte: Double = 0, total: Double = 0,
        uploaded: Int = 0, downloaded: Int = 0, newConnections: Int = 0
    ) {
        self.nameLookup = nameLookup
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.total = total
        self.uploaded = uploaded
        self.downloaded = downloaded
        self.newConnections = newConnections
    }
}
