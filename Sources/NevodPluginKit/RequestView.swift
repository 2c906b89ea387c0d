public import NevodPluginABI

/// A request as it will be sent, without the edits that this call makes. Valid only during the call that it is passed to.
public struct RequestView: ~Escapable {
    @usableFromInline let view: UnsafePointer<nevod_view>

    @inlinable
    @_lifetime(borrow view)
    init(_ view: UnsafePointer<nevod_view>) {
        self.view = view
    }

    /// The method as sent: `GET`.
    public var method: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.method) }
    }

    /// `http` or `https`.
    public var scheme: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.scheme) }
    }

    /// The Host line as it will be sent (RFC 9110 §7.2), even one that the caller set: `api.example.com`, `[::1]:8443`. For a
    /// proxy, the authority in the request's URL.
    public var authority: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.authority) }
    }

    /// The exact request-target (RFC 9112 §3.2): `/a%2Fb?x=1`.
    public var target: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.target) }
    }

    /// The target without its query, percent-encoded as sent.
    public var path: Span<UInt8> {
        @inlinable @_lifetime(copy self) get {
            let target = span(view.pointee.target)
            var end = 0
            while end < target.count, target[unchecked: end] != UInt8(ascii: "?") { end += 1 }
            return target.extracting(first: end)
        }
    }

    /// The target after its first `?`, percent-encoded as sent; empty without one.
    public var query: Span<UInt8> {
        @inlinable @_lifetime(copy self) get {
            let target = span(view.pointee.target)
            let start = path.count + 1
            return start < target.count ? target.extracting(start..<target.count) : target.extracting(first: 0)
        }
    }

    /// Whether there is a body. False for an empty body, which looks the same on the wire.
    public var hasBody: Bool {
        @inlinable get { view.pointee.body_kind != Int32(NEVOD_BODY_NONE) }
    }

    /// Whether the body is read while it is sent, so that its bytes aren't available.
    public var hasStreamedBody: Bool {
        @inlinable get { view.pointee.body_kind == Int32(NEVOD_BODY_STREAM) }
    }

    /// The whole body; empty if it is a stream, or if the scheme's ``AuthScheme/needs`` lacks ``Needs/body``.
    public var body: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.body) }
    }

    /// The raw digest of the body; nil unless ``AuthScheme/needs`` asks for it, and there is a body that can be read in advance.
    @inlinable
    @_lifetime(copy self)
    public func bodyDigest(_ algorithm: DigestAlgorithm) -> Span<UInt8>? {
        guard let digest = view.pointee.digests?.digest(algorithm, among: view.pointee.digest_count) else { return nil }
        return span(digest)
    }

    /// Calls `body` with each header line in the order of sending. Requires ``Needs/headers``.
    public func forEachHeader(_ body: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Void) {
        for index in 0..<Int(view.pointee.header_count) {
            let line = view.pointee.headers[index]
            body(span(line.name), span(line.value))
        }
    }

    /// 32 random bytes, fresh for this call. Requires ``Needs/random``.
    public var random: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.random) }
    }

    /// The time in nanoseconds since 1970 UTC, corrected for the server's clock.
    public var unixNanoseconds: Int64 {
        @inlinable get { view.pointee.unix_time_ns }
    }

    /// The time in whole seconds since 1970 UTC, corrected for the server's clock.
    public var unixSeconds: Int64 {
        @inlinable get { view.pointee.unix_time_ns / 1_000_000_000 }
    }

    /// The number of this attempt: 1 when the request is first sent.
    public var attempt: Int {
        @inlinable get { Int(view.pointee.attempt) }
    }

    /// The number of earlier uses of this token on this origin; each number occurs once. Requires ``Needs/useCount``.
    public var useCount: UInt64 {
        @inlinable get { view.pointee.use_count }
    }

    /// The state that this scheme last stored for the request's origin. Requires ``Needs/state``.
    public var state: Span<UInt8> {
        @inlinable @_lifetime(copy self) get { span(view.pointee.state) }
    }

    /// The value that the caller attached to this request for a parameter of the scheme (``AuthScheme/parameters``), or its
    /// default; nil if there is neither. For a repeatable parameter, the last value.
    @_lifetime(copy self)
    public func parameter(_ name: StaticString) -> Span<UInt8>? {
        let name = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        var index = Int(view.pointee.parameter_count)
        while index > 0 {
            index -= 1
            let parameter = view.pointee.parameters[index]
            if UnsafeBufferPointer(start: parameter.name.data, count: Int(parameter.name.count)).elementsEqual(name) {
                return span(parameter.value)
            }
        }
        return nil
    }

    /// Calls `body` with each parameter, in the order of the declarations, and with each value of a repeatable parameter.
    public func forEachParameter(_ body: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Void) {
        for index in 0..<Int(view.pointee.parameter_count) {
            let parameter = view.pointee.parameters[index]
            body(span(parameter.name), span(parameter.value))
        }
    }

    @inlinable
    @_lifetime(copy self)
    func span(_ bytes: nevod_bytes) -> Span<UInt8> {
        let buffer = UnsafeBufferPointer(start: bytes.count == 0 ? nil : bytes.data, count: Int(bytes.count))
        // The host keeps these bytes for the call, and a view doesn't outlive it.
        return unsafe _overrideLifetime(Span(_unsafeElements: buffer), copying: self)
    }
}

extension RequestView {
    /// Whether the credential is for a proxy on the way. True only for a scheme with ``AuthScheme/authorizesProxies``. `authorize`
    /// then sets `Proxy-Authorization` and nothing else. The view has the request line that the proxy sees, but no headers and no
    /// body.
    public var isForProxy: Bool { view.pointee.target_kind == Int32(NEVOD_TARGET_PROXY) }

    /// The length of the body in bytes; nil for a stream whose length isn't known.
    public var bodyLength: UInt64? {
        view.pointee.body_length == NEVOD_LENGTH_UNKNOWN ? nil : view.pointee.body_length
    }
}
