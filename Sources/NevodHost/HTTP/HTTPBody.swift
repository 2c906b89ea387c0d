/// The body of a request.
public enum HTTPBody: Sendable {
    /// No content. POST, PUT and PATCH send `Content-Length: 0`, other methods send no length (RFC 9110 §8.6).
    case none
    /// A body in memory.
    case bytes([UInt8])
    /// A body that is read while it is sent.
    case stream(HTTPBodyStream)

    /// The length in bytes; nil if it isn't known in advance. An empty body has the same length as none: the two look the same
    /// on the wire.
    public var length: Int64? {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .stream(let stream): stream.length
        }
    }

    /// Whether the body can be sent again, for a retry or a redirect.
    public var isReplayable: Bool {
        switch self {
        case .none, .bytes: true
        case .stream(let stream): stream.isReplayable
        }
    }

    /// Whether a plugin makes it of another body while it is sent.
    var isWrapped: Bool {
        if case .stream(let stream) = self { stream.isWrapped } else { false }
    }

    /// Whether another attempt of the request can have the same body: as it is, or made anew by the scheme that made it.
    var canBeMadeAgain: Bool {
        switch self {
        case .none, .bytes: true
        case .stream(let stream): stream.isReplayable || stream.isMadeOfReplayable
        }
    }
}
