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
