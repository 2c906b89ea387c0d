/// The session that this process has last seen in a storage, so that its end is reported once, whichever process ended it.
struct SeenSession {
    private var session: SessionIdentifier?
    /// The last session that a change of this process was about to end, and why: a read may find the result first.
    private var ending: (session: SessionIdentifier, reason: SessionEnd.Reason)?
    private var reads = 0
    /// Reads up to this one began before something newer was seen, and may be outdated.
    private var newest = 0

    mutating func beginRead() -> Int {
        reads += 1
        return reads
    }

    /// - Returns: the end of the session seen before, if it isn't stored any more.
    mutating func endRead(_ number: Int, _ new: SessionIdentifier?) -> SessionEnd? {
        guard number > newest else { return nil }
        newest = number
        return see(new)
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
