/// An answer, as received: header lines in order, nothing merged.
public struct HTTPResponse: Sendable {
    /// The protocol that the answer came by; `rawValue` is what stands behind `HTTP/`.
    public enum Version: String, Sendable {
        /// RFC 1945.
        case http10 = "1.0"
        /// RFC 9112.
        case http11 = "1.1"
        /// RFC 9113.
        case http2 = "2"
        /// RFC 9114.
        case http3 = "3"
    }

    /// 1.1 where the transport can't tell, which URLSession on Linux is one of.
    public let version: Version
    /// 100 … 599 (RFC 9110 §15).
    public let status: Int
    /// The reason phrase; empty from HTTP/2 on.
    public let reason: String
    /// In the order of their arrival; of the final answer, without those of a 1xx before it.
    public let headers: HTTPHeaders
    /// As ``TransferOptions/delivery`` asked for it.
    public let body: HTTPResponseBody

    /// For transports, and for test doubles.
    public init(version: Version, status: Int, reason: String, headers: HTTPHeaders, body: HTTPResponseBody) {
        self.version = version
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "HTTP/\(version.rawValue) \(status)" }
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": headers]) }
}
