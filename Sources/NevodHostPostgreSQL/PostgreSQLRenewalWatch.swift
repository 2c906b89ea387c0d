/// Decides how long a waiter leaves the lock to a holder that gives no sign of life. Does no I/O.
///
/// Only time during which the server responded counts: while it was away, or this process was stopped, the holder could not have
/// been heard. No two clocks are compared.
struct PostgreSQLRenewalWatch {
    /// A holder as a waiter sees it; changes with each sign of life.
    struct Sight: Sendable, Equatable {
        let holder: String
        let beat: Int64
    }

    /// The longest interval between two looks that counts as watching.
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

    /// The holder that may be replaced, if it has not moved since it was last seen; nil to go on waiting.
    func replaceable(at now: ContinuousClock.Instant) -> Sight? {
        guard let start, let last, now - last <= Self.longestGap, last - start >= patience else { return nil }
        return sight
    }
}
