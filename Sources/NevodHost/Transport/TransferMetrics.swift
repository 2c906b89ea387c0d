/// The timing and size of one transfer. Times are in seconds from the start of the transfer; zero for a phase that didn't occur,
/// such as a name lookup on a reused connection.
public struct TransferMetrics: Sendable, Hashable {
    /// When the host's address was known.
    public var nameLookup = 0.0
    /// When the connection to the host, or its proxy, was established.
    public var connect = 0.0
    /// When the TLS handshake was complete.
    public var tls = 0.0
    /// When everything was ready to send the request.
    public var preTransfer = 0.0
    /// When the first byte of the response arrived.
    public var firstByte = 0.0
    /// When the response was complete, or the transfer failed.
    public var total = 0.0
    /// The size of the request's body as sent, in bytes.
    public var uploaded = 0
    /// The size of the response's body as received, before decompression, in bytes.
    public var downloaded = 0
    /// The size of the request's head as sent, in bytes, with that of a request to a proxy (CONNECT).
    public var requestHeadSize = 0
    /// The size of all heads received, in bytes: of the response, of interim responses, and of a proxy's response to CONNECT.
    public var responseHeadSize = 0
    /// The number of connections opened for the transfer.
    public var newConnections = 0

    /// Creates metrics, for transports. A value that a transport doesn't know stays zero.
    public init(
        nameLookup: Double = 0, connect: Double = 0, tls: Double = 0, preTransfer: Double = 0, firstByte: Double = 0,
        total: Double = 0, uploaded: Int = 0, downloaded: Int = 0, requestHeadSize: Int = 0, responseHeadSize: Int = 0,
        newConnections: Int = 0
    ) {
        self.nameLookup = nameLookup
        self.connect = connect
        self.tls = tls
        self.preTransfer = preTransfer
        self.firstByte = firstByte
        self.total = total
        self.uploaded = uploaded
        self.downloaded = downloaded
        self.requestHeadSize = requestHeadSize
        self.responseHeadSize = responseHeadSize
        self.newConnections = newConnections
    }
}
