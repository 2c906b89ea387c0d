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
        lines.filter { $0.name.string.equalsIgnoringCase(name) }.map(\.value.string)
    }

    private var lines: UnsafeBufferPointer<nevod_pair> {
        UnsafeBufferPointer(start: response.pointee.headers, count: Int(response.pointee.header_count))
    }
}

/// A scheme's decision about a response.
public enum Verdict: Int32, Sendable {
    /// The response doesn't concern this scheme.
    case nothing = 0
    /// Continue; later requests use the new state.
    case stateChanged = 1
    /// Send the request once more: with the new state it should succeed.
    case retryOnce = 2
    /// Run ``ChallengeFlow/challenge(_:_:_:)``, then send the request again.
    case challenge = 3
}

/// Takes the results of `respond`.
public struct ResponseEdits {
    private let actions: UnsafePointer<nevod_actions>

    init(_ actions: UnsafePointer<nevod_actions>) {
        self.actions = actions
    }

    /// Replaces the state that later requests to this origin get as ``RequestView/state``, at most 64 KiB, and restarts the count of
    /// uses.
    public func setState(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { _ = actions.pointee.set_state(actions.pointee.host, nevod_bytes($0)) }
    }

    /// The same for an array.
    public func setState(_ bytes: [UInt8]) { setState(bytes.span) }

    /// Stores this token in place of the one that the request carried, if that one is still stored: of several responses to one token,
    /// the first counts. For servers that issue the next session with a response.
    public func keep(_ token: IssuedToken) {
        token.withTable { _ = actions.pointee.keep(actions.pointee.host, $0) }
    }
}
