/// Why no response arrived.
public struct TransportError: Error, Sendable, Hashable {
    /// The kind of failure.
    public enum Code: Sendable, Hashable {
        /// The task was cancelled.
        case cancelled
        /// The name of the host, or of its proxy, could not be resolved.
        case hostNotFound
        /// The host, or its proxy, accepted no connection. The request was not sent.
        case connectionFailed
        /// ``TransferOptions/timeout`` or ``TransferOptions/connectTimeout`` was exceeded.
        case timedOut
        /// The server's certificate was rejected, or the TLS handshake failed.
        case tls
        /// The private CA, or the client's certificate or key, could not be read.
        case tlsConfiguration
        /// The connection broke before the response was complete. The server may have acted on the request.
        case connectionLost
        /// The response is not valid HTTP.
        case malformedResponse
        /// The response's header lines exceed `limit` bytes.
        case headTooLarge(limit: Int)
        /// The response's body exceeds `limit` bytes; see ``TransferOptions/Delivery``.
        case bodyTooLarge(limit: Int)
        /// A proxy refused to connect to the server; status 407 if it requires credentials.
        case proxyRefused(status: Int)
        /// The server's public key is not the pinned one.
        case pinMismatch
        /// The request body's reader failed, or delivered a number of bytes other than its declared length.
        case requestBody
        /// The response was complete, but a scheme that checks responses refused it. ``TransportError/underlying`` is the reason.
        case rejected
        /// Any other failure, described by ``TransportError/message``.
        case other
    }

    /// The kind of failure.
    public let code: Code
    /// Details for a person, as given by the library that failed.
    public let message: String
    /// libcurl's code (`CURLcode`); 0 if the error isn't from libcurl.
    public let curlCode: Int32
    /// The host and port of the proxy that could not be reached, or that refused; nil if the failure isn't the proxy's.
    public let proxy: String?
    /// The cause of ``Code/rejected``, such as a ``PluginError``; nil with any other code.
    public let underlying: (any Error)?

    /// Creates an error, for transports and test doubles.
    public init(_ code: Code, _ message: String = "", curlCode: Int32 = 0) {
        self.code = code
        self.message = message
        self.curlCode = curlCode
        proxy = nil
        underlying = nil
    }

    /// Creates the error of a connection to a proxy, or, if `proxy` is nil, to the server.
    init(_ code: Code, _ message: String, curlCode: Int32, proxy: String?) {
        self.code = code
        self.message = message
        self.curlCode = curlCode
        self.proxy = proxy
        underlying = nil
    }

    /// Creates the error for a response that was refused after it was complete.
    init(rejectedBy error: any Error) {
        code = .rejected
        message = "\(error)"
        curlCode = 0
        proxy = nil
        underlying = error
    }
}

extension TransportError {
    public static func == (one: TransportError, other: TransportError) -> Bool {
        one.code == other.code && one.message == other.message && one.curlCode == other.curlCode && one.proxy == other.proxy
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
        hasher.combine(curlCode)
    }
}

extension TransportError {
    /// The request's deadline passed during its attempts, redirects or waits.
    static let deadlineExceeded = TransportError(
        .timedOut, "its deadline passed during its attempts and redirects", curlCode: 28)
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        // The scheme's error says it all.
        if case .rejected = code, !message.isEmpty { return message }
        let what =
            switch code {
            case .cancelled: "the request was cancelled"
            case .hostNotFound: "the \(proxy == nil ? "host" : "proxy's") name could not be resolved"
            case .connectionFailed: "no connection to the \(proxy == nil ? "server" : "proxy")"
            case .timedOut: "the request timed out"
            case .tls: "no secure connection to the server"
            case .tlsConfiguration: "the TLS settings can't be used"
            case .connectionLost: "the connection broke"
            case .malformedResponse: "the server's response is not valid HTTP"
            case .headTooLarge(let limit): "the response's header lines are larger than \(limit) bytes"
            case .proxyRefused(status: 407): "the proxy\(proxyName) requires credentials (407); give them in the proxy's URL"
            case .proxyRefused(let status): "the proxy\(proxyName) refused to connect to the server (\(status))"
            case .pinMismatch: "the server's public key is not the pinned one"
            case .bodyTooLarge(let limit): "the response's body is larger than \(limit) bytes"
            case .requestBody: "the request's body could not be read"
            case .rejected: "the response was refused"
            case .other: "the transfer failed"
            }
        return message.isEmpty ? what : "\(what): \(message)"
    }

    private var proxyName: String { proxy.map { " \($0)" } ?? "" }
}
