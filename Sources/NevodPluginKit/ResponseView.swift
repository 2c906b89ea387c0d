internal import NevodPluginABI

/// The response to a request that a scheme authorized. Valid only during the call of `respond`.
public struct ResponseView: ~Escapable {
    private let response: UnsafePointer<nevod_response>

    @_lifetime(borrow response)
    init(_ response: UnsafePointer<nevod_response>) {
        self.response = response
    }

    /// The status, 100 … 599.
    public var status: Int { Int(response.pointee.status) }

    /// Whether the response is a proxy's and not the origin's.
    public var isFromProxy: Bool { response.pointee.target_kind == Int32(NEVOD_TARGET_PROXY) }

    /// The URL of the response, after the redirects that the host followed.
    public var url: String { response.pointee.url.string }

    /// All lines in order, none merged.
    public var headers: [(name: String, value: String)] {
        lines.map { ($0.name.string, $0.value.string) }
    }

    /// The value of the first line of that name, in any letter case.
    public func header(_ name: String) -> String? {
        lines.first { $0.name.string.equalsIgnoringCase(name) }?.value.string
    }

    /// The values of all lines of that name.
    public func headers(named name: String) -> [String] {
        lines.filter { $0.name.string.equalsIgnoringCase(name) }.map { $0.value.string }
    }

    /// The body of a challenge, at most 64 KiB; empty without ``Needs/challengeBody``, and for any other response.
    public var body: Span<UInt8> {
        @_lifetime(copy self) get { span(response.pointee.body) }
    }

    /// Whether the body is longer than ``body``.
    public var bodyIsCut: Bool { response.pointee.flags & UInt32(NEVOD_RESPONSE_CUT) != 0 }

    /// The raw digest of the body as received, before its content coding is undone (RFC 9530 §2). Nil unless ``AuthScheme/needs``
    /// asks for it. Also nil if the body is empty, was not received whole, or was decoded by the host.
    @_lifetime(copy self)
    public func bodyDigest(_ algorithm: DigestAlgorithm) -> Span<UInt8>? {
        guard let digest = response.pointee.digests?.digest(algorithm, among: response.pointee.digest_count) else { return nil }
        return span(digest)
    }

    @_lifetime(copy self)
    private func span(_ bytes: nevod_bytes) -> Span<UInt8> {
        let buffer = UnsafeBufferPointer(start: bytes.count == 0 ? nil : bytes.data, count: Int(bytes.count))
        // The host keeps these bytes for the call, and a view doesn't outlive it.
        return unsafe _overrideLifetime(Span(_unsafeElements: buffer), copying: self)
    }

    private var lines: UnsafeBufferPointer<nevod_pair> {
        UnsafeBufferPointer(start: response.pointee.headers, count: Int(response.pointee.header_count))
    }
}

/// Takes the results of `respond`.
public struct ResponseEdits {
    private let actions: UnsafePointer<nevod_actions>

    init(_ actions: UnsafePointer<nevod_actions>) {
        self.actions = actions
    }

    /// Replaces the state that later requests to this origin get as ``RequestView/state``, and restarts the count of uses. At most
    /// 64 KiB.
    public func setState(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { _ = actions.pointee.set_state(actions.pointee.host, nevod_bytes($0)) }
    }

    /// The same for an array.
    public func setState(_ bytes: [UInt8]) { setState(bytes.span) }

    /// Stores this token in place of the request's token, for servers that issue the next session with a response. Does nothing if
    /// the request's token is no longer stored: among several responses to one token, the first counts.
    public func keep(_ token: IssuedToken) {
        token.withTable { _ = actions.pointee.keep(actions.pointee.host, $0) }
    }
}

/// A scheme's decision about a response.
public enum Verdict: Int32, Sendable {
    /// The response doesn't concern this scheme.
    case nothing = 0
    /// Continue; later requests use the new state.
    case stateChanged = 1
    /// For a challenge: send the request once more, because it should succeed with the new state. Counts as ``stateChanged`` the
    /// second time for one request, and for any other response.
    case retryOnce = 2
    /// For a challenge: run ``ChallengeFlow/challenge(_:_:_:)``, or log in if the scheme has no such flow, then send the request
    /// again.
    case challenge = 3
    /// The response can't be trusted: the request fails, and nothing of its body reaches the caller. Throw a ``SchemeError``
    /// instead to give the reason.
    case refuse = 4
}
