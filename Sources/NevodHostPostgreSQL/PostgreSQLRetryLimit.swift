internal import NevodStorage

/// Limits how often, and for how long, a write is sent.
struct PostgreSQLRetryLimit {
    /// The time that a change of the store's key, or an import, may take. Both lock the table throughout, and the server fails a
    /// statement that waits for a lock for more than 20 seconds.
    static let timeout: Duration = .seconds(300)

    private var attemptsLeft = 4
    private let deadline: ContinuousClock.Instant

    init(from start: ContinuousClock.Instant = .now) {
        deadline = start + Self.timeout
    }

    /// - Returns: false if no attempt is left.
    mutating func next() -> Bool {
        attemptsLeft -= 1
        return attemptsLeft >= 0
    }

    /// - Returns: whether a retry may succeed.
    mutating func mayRetry(after failure: PostgreSQLError, at now: ContinuousClock.Instant) -> Bool {
        guard failure.isLockTimeout else { return failure.isConnectionLost || failure.isTransient }
        // Waiting for a lock uses up the time, and no attempt.
        attemptsLeft += 1
        return now < deadline
    }
}
