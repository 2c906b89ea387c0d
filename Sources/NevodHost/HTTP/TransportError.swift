/// Why no answer came.
public struct TransportError: Error, Sendable, Hashable {
    /// What kind of failure it is, for a program to act on.
    public enum Code: Sendable, Hashable {
        /// The task that waited for it was cancelled.
        case cancelled
        /// The host's name, or its proxy's, has no address.
        case hostNotFound
        /// The host, or its proxy, took no connection. The request was not sent.
        case connectionFailed
        /// ``TransferOptions/timeout`` or ``TransferOptions/connectTimeout`` was over.
        case timedOut
        /// The server's certificate or the TLS handshake was refused.
        case tls
        /// The private CA, a certificate or a key of ours could not be read.
        case tlsConfiguration
        /// The connection broke before the answer was complete. The server may have acted on the request.
        case connectionLost
        /// What came is not HTTP.
        case malformedResponse
        /// The header lines of the answer have more than `limit` bytes.
        case headTooLarge(limit: Int)
        /// The body of the answer has more than `limit` bytes; see ``TransferOptions/Delivery``.
        case bodyTooLarge(limit: Int)
        /// A proxy did not open the way to the server; 407 when it wants credentials.
        case proxyRefused(status: Int)
        /// The server's public key is not the pinned one.
        case pinMismatch
        /// The reader of the request's body failed, or delivered another number of bytes than it had announced.
        case requestBody
        /// None of these; ``TransportError/message`` says what.
        case other
    }

    /// What kind of failure it is; ``message`` says more, to a person.
    public let code: Code
    /// In the words of the library that failed.
    public let message: String
    /// libcurl's own code (`CURLcode`); 0 where it had no part.
    public let curlCode: Int32

    /// For transports, and for test doubles.
    public init(_ code: Code, _ message: String = "", curlCode: Int32 = 0) {
        self.code = code
        self.message = message
        self.curlCode = curlCode
    }
}

extension TransportError {
    /// The deadline of a request passed during its attempts, redirects or waits.
    static let outOfTime = TransportError(.timedOut, "its attempts and redirects took all of it", curlCode: 28)
}

extension TransportError: CustomStringConvertible {
    public var description: String {
        let what =
            switch code {
            case .cancelled: "the request was cancelled"
            case .hostNotFound: "the host's name could not be resolved"
            case .connectionFailed: "no connection to the server"
            case .timedOut: "the request timed out"
            case .tls: "the server's TLS was refused"
            case .tlsConfiguration: "the TLS settings can't be used"
            case .connectionLost: "the connection broke"
            case .malformedResponse: "the server's answer is not HTTP"
            case .headTooLarge(let limit): "the answer's head is larger than \(limit) bytes"
            case .proxyRefused(status: 407): "the proxy wants credentials (407); give them in the proxy's URL"
            case .proxyRefused(let status): "the proxy refused to connect to the server (\(status))"
            case .pinMismatch: "the server's public key is not the pinned one"
            case .bodyTooLarge(let limit): "the answer's body is larger than \(limit) bytes"
            case .requestBody: "the request's body could not be read"
            case .other: "the transfer failed"
            }
        return message.isEmpty ? what : "\(what): \(message)"
    }
}
