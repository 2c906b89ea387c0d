/// A response as received: header lines in order, nothing merged.
public struct HTTPResponse: Sendable {
    /// The protocol version; `rawValue` is the text after `HTTP/`.
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

    /// The protocol version; 1.1 if the transport can't tell, as with URLSession on Linux.
    public let version: Version
    /// The status code, 100 … 599 (RFC 9110 §15).
    public let status: Int
    /// The reason phrase; empty from HTTP/2 on.
    public let reason: String
    /// Header lines of the final response in order of arrival, without those of interim 1xx responses.
    public let headers: HTTPHeaders
    /// The body, delivered as ``TransferOptions/delivery`` asked.
    public let body: HTTPResponseBody

    /// Creates a response, for transports and test doubles.
    public init(version: Version, status: Int, reason: String, headers: HTTPHeaders, body: HTTPResponseBody) {
        self.version = version
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }

    /// Returns the same response with another body.
    func with(_ body: HTTPResponseBody) -> HTTPResponse {
        HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: body)
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "HTTP/\(version.rawValue) \(status)" }
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": headers]) }
}
