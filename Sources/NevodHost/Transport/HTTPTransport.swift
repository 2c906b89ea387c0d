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

    /// Whether the transport undoes the content coding of bodies (RFC 9110 §8.4). The bytes as received are then unknown. False
    /// by default.
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
    /// The user that a private response belongs to, in any form that tells users apart, such as an account's number. A
    /// ``CachingSession`` then uses the response for all requests of this owner, instead of only for requests with the same
    /// header lines. Requests with different credentials never share a response. Nil if the request doesn't name its user.
    public var cacheOwner: String?
    /// Whether a server that asks for the transport's client certificate gets it. A ``NetworkProvider`` doesn't send it once a
    /// redirect has led to another origin, which would learn the client's identity from it.
    public var sendsClientCertificate = true
    /// Whether the request is sent at most once. Otherwise a transport may send it again, whatever its method, if a reused
    /// connection closes before the response begins, even though the server may have acted on the request. ``CurlSession`` opens
    /// a new connection for a request that is sent at most once.
    public var sendsOnce = false
    /// Called once when each transfer completes or fails, on the transport's thread.
    public var onMetrics: (@Sendable (TransferMetrics) -> Void)?
    /// Called once on the transport's thread, when the head of the response begins or the transfer fails, even without a
    /// connection. Leave it nil if nothing needs the details: with TLS, they take some microseconds.
    public var onConnection: (@Sendable (ConnectionDetails) -> Void)?

    /// Creates options. By default, a transfer may take 60 s, connecting may take 30 s, and a body may be up to 64 MiB in size.
    public init(
        timeout: Duration? = .seconds(60), connectTimeout: Duration = .seconds(30),
        delivery: Delivery = .collected(limit: 64 << 20)
    ) {
        self.timeout = timeout
        self.connectTimeout = connectTimeout
        self.delivery = delivery
    }
}

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
    /// The size of the request's head as sent, in bytes, including the head of a request to a proxy (CONNECT).
    public var requestHeadSize = 0
    /// The size of all response heads received, in bytes, including interim responses and a proxy's response to CONNECT.
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
