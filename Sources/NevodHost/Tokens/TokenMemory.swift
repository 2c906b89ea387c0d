internal import NevodSupport

/// What this process knows about a stored token: a state machine without I/O. The storage's bytes are the truth; the token
/// that was decoded from them is kept, so that a request decodes nothing.
struct TokenMemory<Token: TokenModel> {
    struct Unsaved {
        let bytes: Secret?
        /// What the storage held, and should still hold.
        let expected: Secret?
    }

    private(set) var current = StoredToken<Token>(token: nil, version: TokenVersion(number: 0))
    /// When to renew ahead of time; nil: not before it is refused.
    private(set) var renewal: UnixTime?
    /// Set while a token could not be written: it is used, and written as soon as that works.
    private(set) var unsaved: Unsaved?
    private(set) var bytes: Secret?
    /// What the storage held when it was last seen: not the token that could not be written.
    var stored: Secret? {
        if let unsaved { unsaved.expected } else { bytes }
    }
    private var isKnown = false
    /// Counts what was written here, so that a read which a write has overtaken is known to be stale.
    private(set) var writes: UInt64 = 0

    /// Whether these bytes are the ones that were seen last.
    func isCurrent(_ read: Secret?) -> Bool {
        isKnown && read == bytes
    }

    /// What was read, unless something was written since `writes` was what it was.
    ///
    /// - Returns: whether it is a change.
    mutating func install(_ token: Token?, _ read: Secret?, ifWrites seen: UInt64, renewal: UnixTime?) -> Bool {
        guard seen == writes, unsaved == nil, !isCurrent(read) else { return false }
        // That nothing is there is no news to whoever has just begun to look.
        let isNews = isKnown || token != nil
        replace(token, read, renewal)
        return isNews
    }

    /// What was written.
    mutating func installWritten(_ token: Token?, _ written: Secret?, renewal: UnixTime?) {
        writes += 1
        unsaved = nil
        guard !isCurrent(written) else { return }
        replace(token, written, renewal)
    }

    /// What should have been written in place of the token of this version, if that still counts.
    mutating func installUnsaved(
        _ token: Token, _ bytes: Secret?, ifVersion version: TokenVersion, renewal: UnixTime?
    ) -> Bool {
        guard current.version == version else { return false }
        writes += 1
        unsaved = Unsaved(bytes: bytes, expected: stored)
        replace(token, bytes, renewal)
        return true
    }

    /// - Parameter isOurs: whether it was written; if not, somebody else's token stands in the storage, and counts.
    mutating func endUnsaved(isOurs: Bool) {
        unsaved = nil
        isKnown = isOurs
    }

    mutating func postponeRenewal(until time: UnixTime?, of version: TokenVersion) {
        guard current.version == version else { return }
        renewal = time
    }

    private mutating func replace(_ token: Token?, _ bytes: Secret?, _ renewal: UnixTime?) {
        self.bytes = bytes
        self.renewal = renewal
        isKnown = true
        current = StoredToken(token: token, version: TokenVersion(number: current.version.number + 1))
    }
}
