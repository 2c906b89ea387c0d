internal import NevodSupport

/// A response as received: header lines in order, nothing merged.
public struct HTTPResponse: Sendable {
    /// The protocol version; `rawValue` is the text after `HTTP/`.
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

    /// The protocol version; 1.1 if the transport can't tell, as with URLSession on Linux.
    public let version: Version
    /// The status code, 100 … 599 (RFC 9110 §15).
    public let status: Int
    /// The reason phrase; empty from HTTP/2 on.
    public let reason: String
    /// Header lines of the final response in order of arrival. Lines of interim 1xx responses are left out.
    public let headers: HTTPHeaders
    /// The body, delivered as ``TransferOptions/delivery`` specifies.
    public let body: HTTPResponseBody

    /// Creates a response, for transports and test doubles.
    public init(version: Version, status: Int, reason: String, headers: HTTPHeaders, body: HTTPResponseBody) {
        self.version = version
        self.status = status
        self.reason = reason
        self.headers = headers
        self.body = body
    }

    /// Returns the same response with another body.
    func with(_ body: HTTPResponseBody) -> HTTPResponse {
        HTTPResponse(version: version, status: status, reason: reason, headers: headers, body: body)
    }
}

extension HTTPResponse: CustomStringConvertible, CustomReflectable {
    public var description: String { "HTTP/\(version.rawValue) \(status)" }
    public var customMirror: Mirror { Mirror(self, children: ["status": status, "headers": headers]) }
}

/// The body of a response: complete in memory, or a stream.
public enum HTTPResponseBody: Sendable {
    /// The complete body; empty if the response has none.
    case bytes([UInt8])
    /// A body that is still arriving.
    case stream(HTTPResponseStream)

    /// Returns the complete body. Throws if it is larger than `limit` bytes.
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

/// The pieces of a body in order of arrival. The transport stops reading while no piece is requested, so backpressure reaches
/// the server. Releasing the last copy of the stream cancels the transfer.
public struct HTTPResponseStream: AsyncSequence, Sendable {
    private let pull: @Sendable () async throws(TransportError) -> [UInt8]?

    package init(_ pull: @escaping @Sendable () async throws(TransportError) -> [UInt8]?) {
        self.pull = pull
    }

    /// Returns the next piece; nil at the end. Calls must not overlap.
    ///
    /// - Throws: ``TransportError`` if the body breaks off. If a scheme that checks responses refuses this one, the code at the end
    ///   is ``TransportError/Code/rejected``; then don't use what has been read.
    public func next() async throws(TransportError) -> [UInt8]? {
        try await pull()
    }

    /// Iterates over the pieces. All iterators of a stream share one position: each piece is delivered once.
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

extension HTTPResponseStream {
    /// Returns a stream of the same pieces. Passes each piece, and nil at the end, to `observer` before delivering it.
    func observed(_ observer: @escaping @Sendable ([UInt8]?) -> Void) -> HTTPResponseStream {
        HTTPResponseStream { () async throws(TransportError) in
            let piece = try await next()
            observer(piece)
            return piece
        }
    }

    /// Returns a stream of the same pieces that ends only after `check` has returned. If `check` throws, the stream throws that
    /// error instead of ending.
    func checkedAtEnd(_ check: @escaping @Sendable () async throws(TransportError) -> Void) -> HTTPResponseStream {
        let outcome = StreamMemory<Result<Void, TransportError>>()
        return HTTPResponseStream { () async throws(TransportError) in
            if let piece = try await next() { return piece }
            if let known = outcome.take() {
                outcome.keep(known)
                try known.get()
                return nil
            }
            do throws(TransportError) { try await check() } catch {
                outcome.keep(.failure(error))
                throw error
            }
            outcome.keep(.success(()))
            return nil
        }
    }
}

/// A value that one call on a stream leaves for a later call.
final class StreamMemory<Value: Sendable>: Sendable {
    private let value = Locked<Value?>(nil)

    func keep(_ kept: Value) {
        value.withLock { $0 = kept }
    }

    func take() -> Value? {
        value.withLock { value in
            defer { value = nil }
            return value
        }
    }
}
