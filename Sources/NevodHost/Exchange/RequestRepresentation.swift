/// A request type that tokens and interceptors can be written against: the native one, or another library's.
public protocol RequestRepresentation: Sendable {
    /// The response type of the same library.
    associatedtype Response: Sendable = HTTPResponse

    /// Whether this type can hold a streamed body. If it can't (the default), a streamed body is read into memory for each token
    /// or interceptor that reads it.
    static var holdsStreams: Bool { get }

    /// Converts a native request. Parts that the other library can't represent are left out.
    init(_ request: HTTPRequest)
    /// Writes the changes back to the native request. Unchanged parts must not be written, because every write is recorded as an
    /// edit.
    func write(to request: inout HTTPRequest) throws

    /// Converts a response; nil if the other library can't represent it.
    static func response(_ response: HTTPResponse, to request: HTTPRequest) -> Response?
}

extension RequestRepresentation {
    public static var holdsStreams: Bool { false }
}

extension HTTPRequest: RequestRepresentation {
    public static var holdsStreams: Bool { true }

    public init(_ request: HTTPRequest) {
        self = request
    }

    public func write(to request: inout HTTPRequest) {
        request = self
    }
}

extension RequestRepresentation where Response == HTTPResponse {
    public static func response(_ response: HTTPResponse, to request: HTTPRequest) -> HTTPResponse? {
        response
    }
}

/// A request's body in memory, the only form that another library's request can hold.
///
/// A stream that can be read again, such as a multipart form or a file, is read once for this purpose. The request itself keeps
/// the stream.
struct ShownBody {
    /// The longest body that is held in memory for a token or an interceptor.
    static let limit = 64 << 20

    /// Nil if the body is shown as it is.
    private let bytes: [UInt8]?

    /// For request types that hold streams: saves the call of an asynchronous function.
    static let asItIs = ShownBody(bytes: nil)

    private init(bytes: [UInt8]?) {
        self.bytes = bytes
    }

    /// - Parameters:
    ///   - request: the request whose body is shown.
    ///   - shape: the other library's request type.
    ///   - readsBody: whether the token or interceptor reads the body.
    ///   - reader: the type that reads it, for errors.
    /// - Throws: ``UnshownBodyError``; the errors of the body's reader.
    init<Shape: RequestRepresentation>(
        of request: HTTPRequest, as shape: Shape.Type, readsBody: Bool, by reader: @autoclosure () -> String
    ) async throws {
        guard readsBody, case .stream(let stream) = request.body else {
            bytes = nil
            return
        }
        guard stream.isReplayable, stream.length ?? 0 <= Self.limit, let bytes = try await stream.bytes(upTo: Self.limit) else {
            throw UnshownBodyError(reader: reader(), length: stream.length, isReplayable: stream.isReplayable)
        }
        self.bytes = bytes
    }

    /// Converts a request, with the body that is shown.
    func shape<Shape: RequestRepresentation>(_ request: HTTPRequest, as shape: Shape.Type = Shape.self) -> Shape {
        guard let bytes else { return Shape(request) }
        var request = request
        request.body = .bytes(bytes)
        return Shape(request)
    }

    /// Writes the changes back. If the shown body hasn't changed, the request keeps its stream.
    func write(_ shaped: some RequestRepresentation, to request: inout HTTPRequest) throws {
        guard let bytes else { return try shaped.write(to: &request) }
        var changed = request
        changed.body = .bytes(bytes)
        try shaped.write(to: &changed)
        if case .bytes(let after) = changed.body, after == bytes { changed.body = request.body }
        request = changed
    }
}

extension HTTPRequest {
    /// The whole body in memory, as for a signature over it.
    ///
    /// - Parameter reader: the name of the body's reader, for errors.
    /// - Throws: ``UnshownBodyError`` for a stream of more than 64 MiB, or one that can be read only once; the errors of the body's
    ///   reader.
    package func wholeBody(readBy reader: String) async throws -> [UInt8] {
        switch body {
        case .none: return []
        case .bytes(let bytes): return bytes
        case .stream(let stream):
            guard stream.isReplayable, stream.length ?? 0 <= ShownBody.limit,
                let bytes = try await stream.bytes(upTo: ShownBody.limit)
            else { throw UnshownBodyError(reader: reader, length: stream.length, isReplayable: stream.isReplayable) }
            return bytes
        }
    }
}

extension HTTPBodyStream {
    /// Reads the whole body; nil if it is longer than `limit`. This pass isn't reported as progress.
    fileprivate func bytes(upTo limit: Int) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        let reader = try openUnreported()
        while case let piece = try await reader.read(upTo: 256 << 10), !piece.isEmpty {
            guard piece.count <= limit - bytes.count else { return nil }
            bytes += piece
            try Task.checkCancellation()
        }
        return bytes
    }
}

/// A token or an interceptor that is written against another library's request reads the body, but the body can't be held in
/// memory. Nothing was sent: a signature over an empty body would be silently wrong.
public struct UnshownBodyError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The type that reads the body.
    public let reader: String
    /// The length of the body; nil if it is not known in advance.
    public let length: Int64?
    /// Whether the body can be read more than once.
    public let isReplayable: Bool

    public var description: String {
        let reason =
            isReplayable
            ? "it is longer than \(ShownBody.limit >> 20) MiB, the most that is held in memory" : "it can be read only once"
        let size = length.map { "of \($0) bytes" } ?? "of unknown length"
        return
            "the body, a stream \(size), can't be shown to \(reader): \(reason). If \(reader) doesn't read the body, declare its "
            + "readsBody as false; if it does, write it against HTTPRequest, or send the body from memory"
    }
}
