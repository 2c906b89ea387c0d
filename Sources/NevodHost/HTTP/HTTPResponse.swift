/// An answer, as received: header lines in order, nothing merged.
public struct HTTPResponse: Sendable {
    /// The protocol that the answer came by; `rawValue` is what stands behind `HTTP/`.
    public enum Version: String, Sendable {
        /// RFC 1945.
        case http10 = "1.0"
        /// RFC 9112.
        case http11 = "1.1"
        /// RFC 9113.
        case http2 = "2"
        /// RFC 9114.
        case http3 = "3"
    }

    /// 1.1 where the transport can't tell, which URLSession on Linux is one of.
    public let version: Version
    /// 100 … 599 (RFC 9110 §15).
    public let status: Int
    /// The reason phrase; empty from HTTP/2 on.
    public let reason: String
    /// In the order of their arrival; of the final answer, without those of a 1xx before it.
    public let headers: HTTPHeaders
    /// As ``TransferOptions/delivery`` asked for it.
    public let body: HTTPResponseBody

    /// For transports, and for test doubles.
    public init(version: Version, status: Int, reason: String, headers: HTTPHeaders, body: HTTPResponseBody) {
        self.version = version
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "HTTP/\(version.rawValue) \(status)" }
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": headers]) }
}

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

/// The pieces of a body in the order of their arrival. When nobody asks for the next one, the transport stops reading, and
/// so, in the end, does the server; when nobody holds the stream any more, the transfer is cancelled.
public struct HTTPResponseStream: AsyncSequence, Sendable {
    private let pull: @Sendable () async throws(TransportError) -> [UInt8]?

    package init(_ pull: @escaping @Sendable () async throws(TransportError) -> [UInt8]?) {
        self.pull = pull
    }

    /// The next piece; nil at the end. One task at a time.
    public func next() async throws(TransportError) -> [UInt8]? {
        try await pull()
    }

    /// Shares its place with all others of the same stream: each piece comes once.
    public struct Iterator: AsyncIteratorProtocol {
        let stream: HTTPResponseStream
        public mutating func next() async throws(TransportError) -> [UInt8]? {
            try await stream.next()
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(stream: self)
    }
}
