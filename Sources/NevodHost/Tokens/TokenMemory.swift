internal import NevodSupport

/// This process's copy of a stored token: a state machine without I/O. The bytes in the storage are authoritative; the decoded
/// token is kept, so that requests needn't decode it again.
struct TokenMemory<Token: TokenModel> {
    struct Unsaved {
        let bytes: Secret?
        /// The bytes that the storage held, and should still hold, before the write.
        let expected: Secret?
    }

    /// A write that the storage is carrying out.
    private struct Pending {
        let bytes: Secret?
        let cause: TokenWriteCause
        /// Whether a token was stored before, as far as this process knows.
        let hadToken: Bool
        /// Whether a read has found the written bytes before the write returned, and readers were told.
        var isTold = false
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
    /// Whether the storage was read or written.
    private(set) var isKnown = false
    /// The number of writes so far. A read that a write has overtaken is recognized by it, and dropped as stale.
    private(set) var writes: UInt64 = 0
    /// The number of reads that have begun, and the newest of those that have ended. A read that was overtaken by a later one may have
    /// found what the later one's value has replaced.
    private var reads: UInt64 = 0
    private var newestRead: UInt64 = 0
    /// The version of the token that another process has cleared; nil if the last change was another one.
    private var clearedElsewhere: TokenVersion?
    /// The news that readers haven't been told yet, in the order in which they happened.
    private var pending: Pending?
    private var news: [TokenNews<Token>] = []
    private var isTelling = false

    /// Whether these bytes are the last known ones.
    func isCurrent(_ read: Secret?) -> Bool {
        isKnown && read == bytes
    }

    /// Called before a read.
    mutating func beginRead() -> (number: UInt64, writes: UInt64) {
        reads += 1
        return (reads, writes)
    }

    /// Whether something was written since a read began, which may have found what other processes have written later.
    func hasOvertaken(_ writes: UInt64) -> Bool {
        self.writes != writes && unsaved == nil
    }

    /// Called after a read that has found the last known bytes.
    ///
    /// - Returns: false if it has found other ones.
    mutating func endRead(_ number: UInt64, _ read: Secret?) -> Bool {
        guard isCurrent(read) else { return false }
        newestRead = max(newestRead, number)
        return true
    }

    /// Installs a token that was read, unless something was written since, or a later read has ended before.
    ///
    /// - Parameters:
    ///   - number: the number of the read.
    ///   - seen: ``writes`` before the read.
    ///   - refusal: the reason if the server has just refused to renew the last known token.
    /// - Returns: whether readers are told of a change.
    mutating func install(
        _ token: Token?, _ read: Secret?, number: UInt64? = nil, ifWrites seen: UInt64, renewal: UnixTime?,
        refusal: (any Error)? = nil
    ) -> Bool {
        guard seen == writes, unsaved == nil, number.map({ $0 > newestRead }) ?? true else { return false }
        if let number { newestRead = number }
        guard !isCurrent(read) else { return false }
        let old = current
        // A first read that finds no token is not a change.
        let isNews = isKnown || token != nil || old.token != nil
        replace(token, read, renewal)
        if let own = pending, own.bytes == read {
            if !own.isTold { tell(token, own.cause, hadToken: own.hadToken) }
            pending?.isTold = true
            return !own.isTold
        }
        guard isNews else { return false }
        let isCleared = token == nil && old.token != nil
        if isCleared, refusal == nil { clearedElsewhere = old.version }
        tell(token, isCleared ? refusal.map(TokenWriteCause.refusal) ?? .program : .program, hadToken: old.token != nil)
        return true
    }

    private mutating func tell(_ token: Token?, _ cause: TokenWriteCause, hadToken: Bool) {
        news.append(TokenNews(change: .some(token), event: cause.event(for: token, hadToken: hadToken)))
    }

    /// Called before a write to the storage, so that a read that finds its bytes before it has returned knows where they come from.
    mutating func willWrite(_ bytes: Secret?, _ cause: TokenWriteCause) {
        pending = Pending(bytes: bytes, cause: cause, hadToken: !isKnown || current.token != nil)
    }

    /// Called instead of ``installWritten(_:_:renewal:cause:)`` after a write that failed.
    mutating func didNotWrite() {
        pending = nil
    }

    /// Installs a token that was written.
    mutating func installWritten(
        _ token: Token?, _ written: Secret?, renewal: UnixTime?, cause: TokenWriteCause = .program
    ) {
        writes += 1
        if pending?.isTold != true { tell(token, cause, hadToken: pending?.hadToken ?? (!isKnown || current.token != nil)) }
        pending = nil
        unsaved = nil
        guard !isCurrent(written) else { return }
        replace(token, written, renewal)
    }

    /// Records that the server has refused to renew the token of `version`, which another process has cleared meanwhile. After a
    /// logout by this process, or a login, the refusal is no news: that session had ended.
    mutating func noteRefusal(of version: TokenVersion, _ error: any Error) {
        guard clearedElsewhere == version, current.token == nil else { return }
        clearedElsewhere = nil
        news.append(TokenNews(change: nil, event: .refused(error)))
    }

    /// Installs a token that could not be written, if the one it replaces is still current.
    mutating func installUnsaved(
        _ token: Token, _ bytes: Secret?, ifVersion version: TokenVersion, renewal: UnixTime?
    ) -> Bool {
        guard current.version == version else { return false }
        writes += 1
        unsaved = Unsaved(bytes: bytes, expected: stored)
        replace(token, bytes, renewal)
        news.append(TokenNews(change: .some(token), event: .renewed(token)))
        return true
    }

    /// Returns what readers are to be told next; nil if there is nothing, or if another thread is telling them and will go on with it.
    /// ``didTell()`` must follow.
    mutating func takeNews() -> [TokenNews<Token>]? {
        guard !isTelling, !news.isEmpty else { return nil }
        isTelling = true
        defer { news = [] }
        return news
    }

    mutating func didTell() {
        isTelling = false
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
        clearedElsewhere = nil
        current = StoredToken(token: token, version: TokenVersion(number: current.version.number + 1))
    }
}
