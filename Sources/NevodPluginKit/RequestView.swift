public import NevodPluginABI

/// A request as it will be sent, minus what this call adds. Nothing in it outlives the call that it is passed to.
public struct RequestView: ~Escapable {
    @usableFromInline let view: UnsafePointer<nevod_view>

    @inlinable
    @_lifetime(borrow view)
    init(_ view: UnsafePointer<nevod_view>) {
        self.view = view
    }

    /// As sent: `GET`.
    public var method: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.method) }
    }

    /// `http` or `https`.
    public var scheme: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.scheme) }
    }

    /// As in the Host header: `api.example.com`, `[::1]:8443`.
    public var authority: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.authority) }
    }

    /// The exact request-target (RFC 9112 §3.2): `/a%2Fb?x=1`.
    public var target: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.target) }
    }

    /// The target up to its query, percent-encoded as sent.
    public var path: Span<UInt8> {
        @inlinable @_lifetime(copy self) get {
            let target = span(view.pointee.target)
            var end = 0
            while end < target.count, target[unchecked: end] != UInt8(ascii: "?") { end += 1 }
            return target.extracting(first: end)
        }
    }

    /// The target behind its first `?`, percent-encoded as sent; empty without one.
    public var query: Span<UInt8> {
        @inlinable @_lifetime(copy self) get {
            let target = span(view.pointee.target)
            let start = path.count + 1
            return start < target.count ? target.extracting(start..<target.count) : target.extracting(first: 0)
        }
    }

    /// False for a body of length zero too: the two can't be told apart on the wire.
    public var hasBody: Bool {
        @inlinable get { view.pointee.body_kind != Int32(NEVOD_BODY_NONE) }
    }

    /// Whether the body is read while it is sent, so that its bytes aren't here.
    public var hasStreamedBody: Bool {
        @inlinable get { view.pointee.body_kind == Int32(NEVOD_BODY_STREAM) }
    }

    /// The whole body; empty when it is a stream, or when the scheme's ``AuthScheme/needs`` has no ``Needs/body``.
    public var body: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.body) }
    }

    /// The raw digest of the body, if it was asked for, if there is a body, and if it can be read in advance.
    @inlinable
    @_lifetime(copy self)
    public func bodyDigest(_ algorithm: DigestAlgorithm) -> Span<UInt8>? {
        let name = algorithm.name
        for index in 0..<Int(view.pointee.digest_count) {
            let digest = view.pointee.digests[index]
            if UnsafeBufferPointer(start: digest.name.data, count: Int(digest.name.count))
                .elementsEqual(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
            {
                return span(digest.value)
            }
        }
        return nil
    }

    /// Calls `body` with each header line in the order of sending. Needs ``Needs/headers``.
    public func forEachHeader(_ body: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Void) {
        for index in 0..<Int(view.pointee.header_count) {
            let line = view.pointee.headers[index]
            body(span(line.name), span(line.value))
        }
    }

    /// 32 bytes, fresh for this call. Needs ``Needs/random``.
    public var random: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.random) }
    }

    /// Wall clock, nanoseconds since 1970 UTC, corrected for the server's clock.
    public var unixNanoseconds: Int64 {
        @inlinable get { view.pointee.unix_time_ns }
    }

    /// Wall clock, whole seconds since 1970 UTC.
    public var unixSeconds: Int64 {
        @inlinable get { view.pointee.unix_time_ns / 1_000_000_000 }
    }

    /// 1 for the first sending of a request.
    public var attempt: Int {
        @inlinable get { Int(view.pointee.attempt) }
    }

    /// How often this token was used before on this origin; no number twice. Needs ``Needs/useCount``.
    public var useCount: UInt64 {
        @inlinable get { view.pointee.use_count }
    }

    /// What this scheme last kept for the origin that the request goes to. Needs ``Needs/state``.
    public var state: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.state) }
    }

    @inlinable
    @_lifetime(copy self)
    func span(_ bytes: nevod_bytes) -> Span<UInt8> {
        let buffer = UnsafeBufferPointer(start: bytes.count == 0 ? nil : bytes.data, count: Int(bytes.count))
        // The host promises these bytes for the call, which is how long a view lives.
        return unsafe _overrideLifetime(Span(_unsafeElements: buffer), copying: self)
    }
}
