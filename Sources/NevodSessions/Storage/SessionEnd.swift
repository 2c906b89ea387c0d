internal import NevodSupport

/// The end of a session in a ``SessionTokens``.
public struct SessionEnd: Sendable, Hashable {
    /// Why a session ended.
    public enum Reason: Sendable, Hashable {
        /// The server refused to renew the tokens. Tokens and user were removed, and the user must log in again.
        case refused
        /// The session was removed, as by a logout.
        case cleared
        /// Another session was saved in its place, as by another login.
        case replaced
    }

    /// The session that ended.
    public let session: SessionIdentifier
    /// Why it ended.
    public let reason: Reason
}

/// Reports the ends of sessions, and the sessions that other processes begin, to all registered handlers.
final class SessionEndHandlers: Sendable {
    struct Handler: Sendable {
        let end: @Sendable (SessionEnd) -> Void
        let begin: @Sendable (SessionIdentifier) -> Void
    }

    private struct State {
        var next = 0
        var handlers: [Int: Handler] = [:]
        /// Reads the storage after each change by another process, while there are handlers.
        var reading: Task<Void, Never>?
    }

    private let state = Locked(State())

    /// A handler's registration, which ends with this object.
    final class Registration: Sendable {
        private let handlers: SessionEndHandlers
        private let number: Int

        fileprivate init(_ handlers: SessionEndHandlers, _ number: Int) {
            self.handlers = handlers
            self.number = number
        }

        deinit {
            let reading = handlers.state.withLock { state -> Task<Void, Never>? in
                state.handlers[number] = nil
                guard state.handlers.isEmpty else { return nil }
                defer { state.reading = nil }
                return state.reading
            }
            reading?.cancel()
        }
    }

    deinit {
        state.withLock { $0.reading }?.cancel()
    }

    /// - Parameter read: starts a task that reads the storage after each change that the storage reports; called for the first
    ///   handler.
    func add(
        _ handler: Handler, reading read: @Sendable () -> Task<Void, Never>?
    ) -> Registration {
        let number = state.withLock { state in
            state.next += 1
            state.handlers[state.next] = handler
            if state.reading == nil { state.reading = read() }
            return state.next
        }
        return Registration(self, number)
    }

    func report(_ end: SessionEnd) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler.end(end) }
    }

    func report(_ begun: SessionIdentifier) {
        for handler in state.withLock({ Array($0.handlers.values) }) { handler.begin(begun) }
    }
}

/// The session that this process last saw in a storage. Its end is reported once, whichever process ended it.
struct SeenSession {
    private var session: SessionIdentifier?
    /// Whether the storage has been read or changed yet. Before that, there is no change to report.
    private(set) var isKnown = false
    /// The last session that this process was about to end, and why. A concurrent read may see the result first.
    private var ending: (session: SessionIdentifier, reason: SessionEnd.Reason)?
    /// The last sessions that this process was about to begin; kept because a concurrent read may see them first.
    private var beginning: [SessionIdentifier] = []
    private var reads = 0
    /// Reads with numbers up to this one may be outdated: they began before something newer was seen.
    private var newest = 0

    mutating func beginRead() -> Int {
        reads += 1
        return reads
    }

    /// The changes that a read has found.
    struct News {
        /// The session seen before, if it isn't stored any more.
        var end: SessionEnd?
        /// A session that another process has begun, if none was stored before.
        var begin: SessionIdentifier?
        /// Whether a change or a later read overtook this read, whose result then means nothing.
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
        // Otherwise a read has already seen the result of this change, or of a later one.
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
