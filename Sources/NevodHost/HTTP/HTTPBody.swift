#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The body of a request.
public enum HTTPBody: Sendable {
    /// No content. POST, PUT and PATCH send `Content-Length: 0`, other methods send no length (RFC 9110 §8.6).
    case none
    /// A body in memory.
    case bytes([UInt8])
    /// A body that is read while it is sent.
    case stream(HTTPBodyStream)

    /// The length in bytes; nil if it isn't known in advance. It is 0 both without a body and for an empty one, which look the same
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

    /// Whether a plugin makes this body from another one while it is sent.
    var isWrapped: Bool {
        if case .stream(let stream) = self { stream.isWrapped } else { false }
    }

    /// Whether another attempt can send the same body, either unchanged or after a scheme has made it again.
    var canBeMadeAgain: Bool {
        switch self {
        case .none, .bytes: true
        case .stream(let stream): stream.isReplayable || stream.isMadeOfReplayable
        }
    }
}

/// A body that is read while it is sent, so that memory use doesn't grow with its size.
public struct HTTPBodyStream: Sendable {
    /// The length in bytes; nil if it isn't known in advance.
    public let length: Int64?
    /// Whether the body can be read again from the start.
    public let isReplayable: Bool
    /// Whether each attempt can make this stream again, from another body, when the attempt is authorized. The stream itself can
    /// be read only once.
    let isMadeOfReplayable: Bool
    /// Whether a plugin makes the stream from another body while it is sent.
    let isWrapped: Bool
    let open: @Sendable () throws -> any HTTPBodyReader
    /// Opens the original body, whose readers report no progress; nil if this stream reports none either.
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

    /// Creates a body with the content of another one. `open` returns readers that report progress.
    init(reporting original: HTTPBodyStream, open: @escaping @Sendable () throws -> any HTTPBodyReader) {
        self.init(length: original.length, isReplayable: original.isReplayable, open: open)
        openReported = original.openUnreported
    }

    /// Returns a reader for a pass over the body before it is sent. Such a pass isn't reported as progress.
    func openUnreported() throws -> any HTTPBodyReader {
        try (openReported ?? open)()
    }

    /// Creates a body that is made from another one, and can be read only once.
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

/// Reads a body piece by piece.
public protocol HTTPBodyReader: AnyObject, Sendable {
    /// Returns the next bytes, at most `count`; an empty array at the end. `count` is positive, and calls don't overlap.
    func read(upTo count: Int) async throws -> [UInt8]
}

extension HTTPBody {
    /// A file that is read while it is sent. The body is replayable, and its length is sent in Content-Length.
    public static func file(_ path: String) throws(InvalidRequestError) -> HTTPBody {
        var info = stat()
        guard stat(path, &info) == 0 else { throw InvalidRequestError(.body, "\(path): \(String(cString: strerror(errno)))") }
        guard info.st_mode & S_IFMT == S_IFREG else { throw InvalidRequestError(.body, "\(path) is not a regular file") }
        return .stream(
            HTTPBodyStream(length: Int64(info.st_size), isReplayable: true) { try FileReader(path: path) })
    }
}

/// Reads a file sequentially.
final class FileReader: HTTPBodyReader {
    private let file: Int32
    private let path: String

    init(path: String) throws(FileReadError) {
        file = open(path, O_RDONLY | O_CLOEXEC)
        self.path = path
        guard file >= 0 else { throw FileReadError(path, errno) }
    }

    deinit {
        if file >= 0 { close(file) }
    }

    func read(upTo count: Int) async throws -> [UInt8] {
        let count = max(0, count)
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var got = 0
            repeat { got = systemRead(file, buffer.baseAddress, count) } while got < 0 && errno == EINTR
            if got < 0 { failure = errno }
            filled = max(0, got)
        }
        guard failure == 0 else { throw FileReadError(path, failure) }
        return bytes
    }
}

private func systemRead(_ file: Int32, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
    read(file, buffer, count)
}

struct FileReadError: Error, CustomStringConvertible {
    let description: String

    init(_ path: String, _ number: Int32) {
        description = "\(path): \(String(cString: strerror(number)))"
    }
}
