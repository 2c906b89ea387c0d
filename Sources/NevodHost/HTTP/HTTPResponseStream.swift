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
