internal import NevodStorage

/// A renewal lock that this process holds: a mark in the key's row, which outlives the connection, and an advisory lock, which shows
/// the others that the connection lives.
struct PostgreSQLRenewalMark: Sendable {
    let key: StorageKey
    /// The number of the advisory lock.
    let lock: UInt64
    /// Differs for each taking of a lock.
    let holder: String
    /// Increases with each taking of this key's lock. The server refuses a value that is saved under a lower number.
    let fence: Int64
    /// The worker's connection that holds the advisory lock; nil if none does.
    var connection: Int?
    /// When the server last confirmed the mark.
    var confirmed: ContinuousClock.Instant
    /// Whether another process has taken the lock over.
    var isLost = false
}
