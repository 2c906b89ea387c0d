/// A body that is read while it is sent, so that memory use doesn't grow with its size.
public struct HTTPBodyStream: Sendable {
    /// The length in bytes; nil if it isn't known in advance.
    public let length: Int64?
    /// Whether the body can be read again from the start.
    public let isReplayable: Bool
    /// Whether the stream is made of another body when a request is authorized, so that each attempt makes it anew. It can be read only
    /// once, but the request can be sent again if the original body is replayable.
    let isMadeOfReplayable: Bool
    /// Whether a plugin makes the stream of another body while it is sent.
    let isWrapped: Bool
    let open: @Sendable () throws -> any HTTPBodyReader
    /// Opens the body that this one reports the progress of; nil if it reports none.
    private var openReported: (@Sendable () throws -> any HTTPBodyReader)?

    /// Creates a streamed body.
    ///
    /// - Parameters:
    ///   - length: the length in bytes, sent as Content-Length. The request fails if the reader delivers fewer or more bytes.
    ///     Nil sends the body with chunked encoding; a negative length counts as nil.
    ///   - isReplayable: whether `open` can be called again and yields the same bytes from the start.
    ///   - open: returns a reader at the start of the body; called once each time the body is sent.
    public init(length: Int64?, isReplayable: Bool, open: @escaping @Sendable () throws -> any HTTPBodyReader) {
        self.length = length.flatMap { $0 < 0 ? nil : $0 }
        self.isReplayable = isReplayable
        isMadeOfReplayable = false
        isWrapped = false
        self.open = open
    }

    /// Creates a body that is read through another reader, which reports the progress.
    init(reporting original: HTTPBodyStream, open: @escaping @Sendable () throws -> any HTTPBodyReader) {
        self.init(length: original.length, isReplayable: original.isReplayable, open: open)
        openReported = original.openUnreported
    }

    /// Returns a reader for a pass over the body before it is sent, which is no progress.
    func openUnreported() throws -> any HTTPBodyReader {
        try (openReported ?? open)()
    }

    /// Creates a body that is made of another one, and can be read once.
    init(madeAnewOf original: HTTPBody, length: Int64, open: @escaping @Sendable () throws -> any HTTPBodyReader) {
        self.length = length
        isReplayable = false
        isMadeOfReplayable = original.canBeMadeAgain
        isWrapped = true
        self.open = open
    }
}

extension HTTPBodyStream {
    /// Returns a reader at the start of the body. Can be called more than once only if the body is replayable.
    public func makeReader() throws -> any HTTPBodyReader {
        try open()
    }
}
