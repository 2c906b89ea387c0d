/// The body of a request in the form in which another library's request can hold it: in memory.
///
/// A stream that can be read again, such as a form with several parts or a file, is read once for it. The request itself keeps its
/// stream.
struct ShownBody {
    /// The longest body that is held in memory for a token or an interceptor.
    static let limit = 64 << 20

    /// Nil if the body is shown as it is.
    private let bytes: [UInt8]?

    /// For requests that hold streams, which spares them the call of an asynchronous function.
    static let asItIs = ShownBody(bytes: nil)

    private init(bytes: [UInt8]?) {
        self.bytes = bytes
    }

    /// - Parameters:
    ///   - request: the request whose body is shown.
    ///   - shape: the other library's request.
    ///   - readsBody: whether the body is read there.
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

    /// Writes the changes back. A body that was shown and not changed stays the stream that it was.
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
    /// Reads the whole body; nil if it is longer than `limit`. A reader that reports its progress reports nothing.
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
