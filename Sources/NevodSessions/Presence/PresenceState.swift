/// The state of a presence: a state machine without I/O, whose methods return what is to be done outside the lock.
struct PresenceState<Caller> {
    typealias Instant = ContinuousClock.Instant

    /// The next step of a caller of ``Presence/confirm()``.
    enum Step: Equatable {
        /// A confirmation still counts.
        case proceed
        /// Waits for the check under way.
        case wait
        /// Starts the check of this number, and waits for it.
        case start(Int)
    }

    /// When the last check succeeded; nil if none has since the last ``forget()``.
    private(set) var confirmed: Instant?
    /// The number of the last check.
    private var number = 0
    /// The check under way that later callers join; nil if there is none.
    private var asking: Int?
    /// The callers, each with the number of its check.
    private var waiting: [UInt64: (check: Int, caller: Caller)] = [:]
    private var lastCaller: UInt64 = 0

    var waitingCount: Int { waiting.count }

    /// Whether a confirmation counts that is at most this old.
    func isConfirmed(within duration: Duration, at now: Instant) -> Bool {
        confirmed.map { now - $0 <= duration } ?? false
    }

    /// - Returns: what to do, and the caller's number for ``leave(_:)``.
    mutating func join(_ caller: Caller, within duration: Duration, at now: Instant) -> (Step, UInt64) {
        // A confirmation of this instant is that of a check which this caller didn't wait for.
        if duration > .zero, isConfirmed(within: duration, at: now) { return (.proceed, 0) }
        lastCaller += 1
        if let asking {
            waiting[lastCaller] = (asking, caller)
            return (.wait, lastCaller)
        }
        number += 1
        asking = number
        waiting[lastCaller] = (number, caller)
        return (.start(number), lastCaller)
    }

    /// Removes a caller that was cancelled.
    ///
    /// - Returns: the number of the check that no caller waits for any more, and which is to be cancelled; nil if there is none.
    mutating func leave(_ caller: UInt64) -> Int? {
        guard let check = waiting.removeValue(forKey: caller)?.check, !waiting.values.contains(where: { $0.check == check })
        else { return nil }
        // The next caller starts another check.
        if asking == check { asking = nil }
        return check
    }

    /// Ends a check.
    ///
    /// - Parameter confirmed: when it succeeded; nil if it failed.
    /// - Returns: the callers that waited for it.
    mutating func end(_ check: Int, confirmed: Instant?) -> [Caller] {
        if asking == check {
            asking = nil
            if let confirmed { self.confirmed = confirmed }
        }
        let ended = waiting.filter { $0.value.check == check }
        for caller in ended.keys { waiting[caller] = nil }
        return ended.values.map(\.caller)
    }

    /// Counts from now, without a check.
    mutating func confirm(at now: Instant) {
        confirmed = now
    }

    /// A check under way, which may have succeeded already, then counts only for the callers that wait for it. Later callers start
    /// another one.
    mutating func forget() {
        confirmed = nil
        asking = nil
    }
}
