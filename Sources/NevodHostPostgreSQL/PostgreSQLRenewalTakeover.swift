/// How long a renewal lock outlives its holder's connection.
package struct PostgreSQLRenewalTimes: Sendable {
    /// The interval of a holder's signs of life.
    let beat: Duration
    /// How long a holder without a connection must have given no sign of life before a waiter takes the lock. Only time during
    /// which the server responds counts. Longer than a process is paused, and longer than a reconnection takes.
    let patience: Duration
    /// How long a holder that has a connection may give no sign of life before it loses the lock.
    let term: Duration

    /// - Parameters:
    ///   - beat: The interval of the signs of life; several of them must fit into `patience`.
    ///   - patience: How long a waiter watches a holder that has lost its connection.
    ///   - term: How long a holder with a connection may be silent.
    package init(beat: Duration = .seconds(2), patience: Duration = .seconds(20), term: Duration = .seconds(120)) {
        self.beat = beat
        self.patience = patience
        self.term = term
    }
}

/// Decides how long a waiter leaves the lock to a holder that gives no sign of life. Does no I/O.
///
/// Only time during which the server responded counts: while the server was away, or this process was suspended, the holder could
/// not have been heard. The clocks of two machines are never compared.
struct PostgreSQLRenewalWatch {
    /// A holder as a waiter sees it; changes with each sign of life.
    struct Sight: Sendable, Equatable {
        let holder: String
        let beat: Int64
    }

    /// The longest interval between two looks that still counts as watching.
    static let longestGap: Duration = .seconds(3)

    private let patience: Duration
    private(set) var sight: Sight?
    private var start: ContinuousClock.Instant?
    private var last: ContinuousClock.Instant?

    init(patience: Duration) {
        self.patience = patience
    }

    mutating func see(_ new: Sight?, at now: ContinuousClock.Instant) {
        let hasGap = last.map { now - $0 > Self.longestGap } ?? true
        if hasGap || new != sight { start = now }
        (sight, last) = (new, now)
    }

    /// The holder that may be replaced unless it gives a sign of life; nil to continue waiting.
    func replaceable(at now: ContinuousClock.Instant) -> Sight? {
        guard let start, let last, now - last <= Self.longestGap, last - start >= patience else { return nil }
        return sight
    }
}
