/// What a request carries.
public enum HTTPBody: Sendable {
    /// No content: POST, PUT and PATCH say `Content-Length: 0`, the others nothing (RFC 9110 §8.6).
    case none
    /// All of it in memory.
    case bytes([UInt8])
    /// Read while it is sent.
    case stream(HTTPBodyStream)

    /// In bytes; nil when it isn't known in advance. An empty body is none: the two can't be told apart on the wire.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(let stream): stream.length
        }
    }

    /// Whether it can be sent again, for a retry or a redirect.
    public var isReplayable: Bool {
        switch self {
        case .none, .bytes: true
        case .stream(let stream): stream.isReplayable
        }
    }
}
