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

/// A body that is read while it is sent, so that memory stays flat.
public struct HTTPBodyStream: Sendable {
    /// In bytes; nil when it isn't known in advance.
    public let length: Int64?
    /// Whether it can be read again from the start.
    public let isReplayable: Bool
    let open: @Sendable () throws -> any HTTPBodyReader

    /// - Parameters:
    ///   - length: in bytes, if it is known: it then goes out as Content-Length, a reader that delivers fewer bytes fails the
    ///     request, and more are not sent. Without it the body goes out in chunks.
    ///   - isReplayable: whether `open` can be called again, for the same bytes from the start.
    ///   - open: makes a reader at the beginning of the body; called for each sending.
    public init(length: Int64?, isReplayable: Bool, open: @escaping @Sendable () throws -> any HTTPBodyReader) {
        self.length = length
        self.isReplayable = isReplayable
        self.open = open
    }
}

extension HTTPBodyStream {
    /// A reader at the beginning of the body; more than one only if it is replayable.
    public func makeReader() throws -> any HTTPBodyReader {
        try open()
    }
}

/// Delivers a body, piece by piece.
public protocol HTTPBodyReader: AnyObject, Sendable {
    /// The next bytes, at most `count`; none at the end. Called by one task at a time.
    func read(upTo count: Int) async throws -> [UInt8]
}
