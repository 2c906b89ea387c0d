/// The session that this process has last seen in a storage, so that its end is reported once, whichever process ended it.
struct SeenSession {
    private var session: SessionIdentifier?
    /// Whether the storage was read or changed, so that a change is to be reported.
    private(set) var isKnown = false
    /// The last session that a change of this process was about to end, and why: a read may find the result first.
    private var ending: (session: SessionIdentifier, reason: SessionEnd.Reason)?
    /// The last sessions that this process was about to begin, for the same reason.
    private var beginning: [SessionIdentifier] = []
    private var reads = 0
    /// Reads up to this one began before something newer was seen, and may be outdated.
    private var newest = 0

    mutating func beginRead() -> Int {
        reads += 1
        return reads
    }

    /// The news that a read has found.
    struct News {
        /// The session seen before, if it isn't stored any more.
        var end: SessionEnd?
        /// A session that another process has begun where none was before.
        var begin: SessionIdentifier?
        /// Whether the read was overtaken, by a change or by a later read, and says nothing.
        var isOvertaken = false
    }

    mutating func endRead(_ number: Int, _ new: SessionIdentifier?) -> News {
        guard number > newest else { return News(isOvertaken: true) }
        newest = number
        let begin = isKnown && session == nil ? new.flatMap { beginning.contains($0) ? nil : $0 } : nil
        return News(end: see(new), begin: begin)
    }

    /// Called before a change that stores a session.
    mutating func willBegin(_ session: SessionIdentifier) {
        guard !beginning.contains(session) else { return }
        if beginning.count == 16 { beginning.removeFirst() }
        beginning.append(session)
    }

    /// Called before a change that removes a session.
    mutating func willEnd(_ session: SessionIdentifier, because reason: SessionEnd.Reason) {
        ending = (session, reason)
    }

    /// Called after a change by this process.
    mutating func didChange(
        from old: SessionIdentifier?, to new: SessionIdentifier?, because reason: SessionEnd.Reason
    ) -> SessionEnd? {
        newest = reads
        // A read has seen the result of this change, or of a later one.
        guard session == old else { return nil }
        if let old { ending = (old, reason) }
        return see(new)
    }

    private mutating func see(_ new: SessionIdentifier?) -> SessionEnd? {
        isKnown = true
        guard let old = session, old != new else {
            session = new
            return nil
        }
        session = new
        guard new == nil else { return SessionEnd(session: old, reason: .replaced) }
        let reason = ending.flatMap { $0.session == old ? $0.reason : nil } ?? .cleared
        return SessionEnd(session: old, reason: reason)
    }
}
