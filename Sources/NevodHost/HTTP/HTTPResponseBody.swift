/// The body of an answer: all of it in memory, or arriving.
public enum HTTPResponseBody: Sendable {
    /// All of it; empty where the answer has none.
    case bytes([UInt8])
    /// Arriving.
    case stream(HTTPResponseStream)

    /// The whole body. Fails when it has more than `limit` bytes.
    public func collect(upTo limit: Int = .max) async throws(TransportError) -> [UInt8] {
        switch self {
        case .bytes(let bytes):
            guard bytes.count <= limit else { throw TransportError(.bodyTooLarge(limit: limit)) }
            return bytes
        case .stream(let stream):
            var bytes: [UInt8] = []
            while let piece = try await stream.next() {
                guard bytes.count + piece.count <= limit else { throw TransportError(.bodyTooLarge(limit: limit)) }
                bytes += piece
            }
            return bytes
        }
    }
}
