/// The pieces of a body in order of arrival. The transport stops reading while no piece is requested, so backpressure reaches
/// the server. Releasing the last copy of the stream cancels the transfer.
public struct HTTPResponseStream: AsyncSequence, Sendable {
    private let pull: @Sendable () async throws(TransportError) -> [UInt8]?

    package init(_ pull: @escaping @Sendable () async throws(TransportError) -> [UInt8]?) {
        self.pull = pull
    }

    /// Returns the next piece; nil at the end. Calls must not overlap.
    ///
    /// - Throws: if the body breaks off; with ``TransportError/Code/rejected`` in place of the end if a scheme that checks responses
    ///   refuses this one. What has been read must then not be used.
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
