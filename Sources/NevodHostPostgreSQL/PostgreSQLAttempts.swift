internal import NevodStorage

/// How often a write is sent, and for how long.
struct PostgreSQLAttempts {
    /// As long as a change of the store's key, or an import, may take: they lock the table for all of it, and the server lets nobody wait
    /// for a lock for more than 20 seconds.
    static let patience: Duration = .seconds(300)

    private var left = 4
    private let end: ContinuousClock.Instant

    init(from start: ContinuousClock.Instant = .now) {
        end = start + Self.patience
    }

    /// - Returns: false if it has been sent often enough.
    mutating func next() -> Bool {
        left -= 1
        return left >= 0
    }

    /// - Returns: whether the same may help.
    mutating func mayRepeat(after failure: PostgreSQLError, at now: ContinuousClock.Instant) -> Bool {
        guard failure.isOfLock else { return failure.isLost || failure.isPassing }
        // It was waited for and not come by: only the time counts.
        left += 1
        return now < end
    }
}
