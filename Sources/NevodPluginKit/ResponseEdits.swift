internal import NevodPluginABI

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
