internal import NevodPluginABI

/// The answer to a request that a scheme authorised. Nothing in it outlives the call of `respond`.
public struct ResponseView: ~Escapable {
    private let response: UnsafePointer<nevod_response>

    @_lifetime(borrow response)
    init(_ response: UnsafePointer<nevod_response>) {
        self.response = response
    }

    /// 100 … 599.
    public var status: Int { Int(response.pointee.status) }

    /// Whether a proxy answered, and not the origin.
    public var isFromProxy: Bool { response.pointee.target_kind == Int32(NEVOD_TARGET_PROXY) }

    /// What answered, after the redirects that the host followed.
    public var url: String { response.pointee.url.string }

    /// Every line in order, nothing merged.
    public var headers: [(name: String, value: String)] {
        lines.map { ($0.name.string, $0.value.string) }
    }

    /// The value of the first line of that name, in any case of letters.
    public func header(_ name: String) -> String? {
        lines.first { $0.name.string.equalsIgnoringCase(name) }?.value.string
    }

    /// The values of all lines of that name.
    public func headers(named name: String) -> [String] {
        lines.filter { $0.name.string.equalsIgnoringCase(name) }.map(\.value.string)
    }

    private var lines: UnsafeBufferPointer<nevod_pair> {
        UnsafeBufferPointer(start: response.pointee.headers, count: Int(response.pointee.header_count))
    }
}

/// What a scheme makes of an answer.
public enum Verdict: Int32, Sendable {
    /// The answer has nothing to do with this scheme.
    case nothing = 0
    /// Go on; the next request will use the new state.
    case stateChanged = 1
    /// The state has changed such that the same request would now pass.
    case retryOnce = 2
    /// Run ``ChallengeFlow/challenge(_:_:_:)``, then send the request again.
    case challenge = 3
}

/// Where `respond` puts what it has learnt from an answer.
public struct ResponseEdits {
    private let actions: UnsafePointer<nevod_actions>

    init(_ actions: UnsafePointer<nevod_actions>) {
        self.actions = actions
    }

    /// Replaces the state that requests to this origin will be shown as ``RequestView/state``. At most 64 KiB. The count of uses
    /// begins again.
    public func setState(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { _ = actions.pointee.set_state(actions.pointee.host, nevod_bytes($0)) }
    }

    /// The same, of an array.
    public func setState(_ bytes: [UInt8]) { setState(bytes.span) }

    /// Stores this token in place of the one that the request carried, if that is still the stored one: of many answers to one
    /// token the first counts. For servers that issue the next session with an answer.
    public func keep(_ token: IssuedToken) {
        token.withTable { _ = actions.pointee.keep(actions.pointee.host, $0) }
    }
}
