internal import NevodSupport

/// This process's copy of a stored token: a state machine without I/O. The bytes in the storage are authoritative; the decoded
/// token is kept, so that requests needn't decode it again.
struct TokenMemory<Token: TokenModel> {
    struct Unsaved {
        let bytes: Secret?
        /// The bytes that the storage should still hold when the token is written.
        let expected: Secret?
    }

    /// A write that the storage is carrying out.
    private struct Pending {
        let bytes: Secret?
        let cause: TokenWriteCause
        /// Whether a token was stored before, as far as this process knows.
        let hadToken: Bool
        /// Whether readers were told already, because a read found the written bytes before the write returned.
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
    /// The number of writes so far. It shows that a write has overtaken a read, which is then dropped as stale.
    private(set) var writes: UInt64 = 0
    /// The number of reads that have begun, and the newest read that has ended. A read that ends after a newer one may have found
    /// an outdated value.
    private var reads: UInt64 = 0
    private var newestRead: UInt64 = 0
    /// The version of the token that another process has cleared; nil after any other change.
    private var clearedElsewhere: TokenVersion?
    private var pending: Pending?
    /// The news that readers haven't been told yet, in the order in which it happened.
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

    /// Whether this process has written since a read began. The read may still have found what another process wrote later.
    func hasOvertaken(_ writes: UInt64) -> Bool {
        self.writes != writes && unsaved == nil
    }

    /// Called after a read. Records it if it found the last known bytes.
    ///
    /// - Returns: false if it found other bytes.
    mutating func endRead(_ number: UInt64, _ read: Secret?) -> Bool {
        guard isCurrent(read) else { return false }
        newestRead = max(newestRead, number)
        return true
    }

    /// Installs a token that was read, unless this process has written since the read began, or a later read has ended already.
    ///
    /// - Parameters:
    ///   - number: the number of the read.
    ///   - seen: ``writes`` before the read.
    ///   - refusal: the reason if the server has just refused to renew the last known token.
    /// - Returns: whether there is news for readers.
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

    /// Called before a write to the storage. A read may find the bytes before the write returns, and must know where they come
    /// from.
    mutating func willWrite(_ bytes: Secret?, _ cause: TokenWriteCause) {
        pending = Pending(bytes: bytes, cause: cause, hadToken: !isKnown || current.token != nil)
    }

    /// Called instead of ``installWritten(_:_:renewal:cause:)`` after a failed write.
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

    /// Records that the server refused to renew the token of `version`, which another process has cleared meanwhile. Does nothing
    /// after a login, or a logout by this process, because that session has already ended.
    mutating func noteRefusal(of version: TokenVersion, _ error: any Error) {
        guard clearedElsewhere == version, current.token == nil else { return }
        clearedElsewhere = nil
        news.append(TokenNews(change: nil, event: .refused(error)))
    }

    /// Installs a token that could not be written, if the token that it replaces is still current.
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

    /// Returns the news to tell readers next; nil if there is none, or if another thread is telling them and will tell them this
    /// too. If the result isn't nil, call ``didTell()`` afterwards.
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
