internal import NevodSupport

/// This process's copy of a stored token: a state machine without I/O. The bytes in the storage are authoritative; the decoded
/// token is kept, so that requests needn't decode it again.
struct TokenMemory<Token: TokenModel> {
    struct Unsaved {
        let bytes: Secret?
        /// The bytes that the storage held, and should still hold, before the write.
        let expected: Secret?
    }

    private(set) var current = StoredToken<Token>(token: nil, version: TokenVersion(number: 0))
    /// When to renew before expiry; nil to renew only when the server refuses the token.
    private(set) var renewal: UnixTime?
    /// A token that could not be written yet. It is used, and written as soon as the storage allows.
    private(set) var unsaved: Unsaved?
    private(set) var bytes: Secret?
    /// The bytes that the storage held when last read or written, without the unsaved token.
    var stored: Secret? {
        if let unsaved { unsaved.expected } else { bytes }
    }
    private var isKnown = false
    /// The number of writes so far. A read that a write has overtaken is recognized by it, and dropped as stale.
    private(set) var writes: UInt64 = 0

    /// Whether these bytes are the last known ones.
    func isCurrent(_ read: Secret?) -> Bool {
        isKnown && read == bytes
    }

    /// Installs a token that was read, unless something was written since.
    ///
    /// - Parameter seen: ``writes`` before the read.
    /// - Returns: whether observers should be told of a change.
    mutating func install(_ token: Token?, _ read: Secret?, ifWrites seen: UInt64, renewal: UnixTime?) -> Bool {
        guard seen == writes, unsaved == nil, !isCurrent(read) else { return false }
        // A first read that finds no token is not a change.
        let isNews = isKnown || token != nil
        replace(token, read, renewal)
        return isNews
    }

    /// Installs a token that was written.
    mutating func installWritten(_ token: Token?, _ written: Secret?, renewal: UnixTime?) {
        writes += 1
        unsaved = nil
        guard !isCurrent(written) else { return }
        replace(token, written, renewal)
    }

    /// Installs a token that could not be written, if the one it replaces is still current.
    mutating func installUnsaved(
        _ token: Token, _ bytes: Secret?, ifVersion version: TokenVersion, renewal: UnixTime?
    ) -> Bool {
        guard current.version == version else { return false }
        writes += 1
        unsaved = Unsaved(bytes: bytes, expected: stored)
        replace(token, bytes, renewal)
        return true
    }

    /// - Parameter isWritten: whether the unsaved token was written. If not, another process has written one, which takes
    ///   precedence.
    mutating func forgetUnsaved(isWritten: Bool) {
        unsaved = nil
        isKnown = isWritten
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
