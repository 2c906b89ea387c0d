/// The body of a response: complete in memory, or a stream.
public enum HTTPResponseBody: Sendable {
    /// The complete body; empty if the response has none.
    case bytes([UInt8])
    /// A body that is still arriving.
    case stream(HTTPResponseStream)

    /// Returns the complete body. Throws if it has more than `limit` bytes.
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
