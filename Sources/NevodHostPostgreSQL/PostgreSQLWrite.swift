internal import NevodStorage
internal import NevodSupport

/// One version of a value, to be sent to the server.
struct PostgreSQLWrite: Sendable {
    let key: StorageKey
    let version: Int64
    /// Nil removes the value. No two sealed values are equal, since each has its own nonce.
    let sealed: [UInt8]?
    let store: StoreIdentifier
    let keyNumber: Int64
    /// The number of the renewal lock under which the value was obtained; nil if there was no lock, as for a login.
    var fence: Int64?
    let channel: String

    /// The outcome of a write whose connection was lost before the response.
    enum Outcome: Equatable {
        case written
        /// Not written so far. It is safe to send the same write again: one of the two fails, since its version exists.
        case pending
        /// Another process has written this version.
        case overtaken
        /// Later versions exist, and it can't be known what they replaced.
        case unknown
    }

    /// - Parameter entry: The entry that is stored now.
    func outcome(given entry: SealedEntry) -> Outcome {
        if entry.version < version { return .pending }
        if entry.version > version { return .unknown }
        return entry.sealed == sealed ? .written : .overtaken
    }
}

extension PostgreSQLStorage {
    /// Sends a write. If the connection is lost before the response, looks for the written value, and sends it again if it isn't
    /// there.
    ///
    /// - Returns: false if another version is stored.
    func send(_ write: PostgreSQLWrite) async throws -> Bool {
        let schema = schema
        var (wasLost, last): (Bool, StorageError?) = (false, nil)
        var attempts = PostgreSQLRetryLimit()
        while attempts.next() {
            do throws(PostgreSQLError) {
                let isSaved = try await pool.withWorker { (worker) throws(PostgreSQLError) in
                    try await worker.run { (connection, _) throws(PostgreSQLError) in try connection.save(write, schema) }
                }
                // Otherwise an earlier attempt may have written the value although its response was lost.
                if isSaved || !wasLost { return isSaved }
            } catch {
                guard attempts.mayRetry(after: error, at: .now) else {
                    throw wasLost ? inDoubt(write, "\(error.error)") : error.error
                }
                wasLost = wasLost || error.isConnectionLost
                last = error.error
            }
            guard wasLost else { continue }
            switch try await outcome(of: write) {
            case .written: return true
            case .pending: continue
            case .overtaken: return false
            case .unknown: throw inDoubt(write, "another value has replaced it since")
            }
        }
        guard !wasLost, let last else { throw inDoubt(write, "the connection keeps being lost") }
        throw last
    }

    private func outcome(of write: PostgreSQLWrite) async throws -> PostgreSQLWrite.Outcome {
        do throws(StorageError) {
            return write.outcome(given: try await entry(for: write.key).sealed)
        } catch {
            throw inDoubt(write, "\(error)")
        }
    }

    private func inDoubt(_ write: PostgreSQLWrite, _ problem: String) -> StorageError {
        dispatcher.cache.withLock { $0.drop(write.key) }
        return StorageError(
            .unavailable, name,
            problem: "the connection was lost while \(write.key) was being saved; whether it was saved is unknown: \(problem)",
            remedy: "read it again when the server is back")
    }
}

/// Limits how often, and for how long, a write is sent.
struct PostgreSQLRetryLimit {
    /// How long a change of the store's key, or an import, may take. Both lock the table throughout, and the server fails a
    /// statement that has waited for a lock for 20 seconds.
    static let timeout: Duration = .seconds(300)

    private var attemptsLeft = 4
    private let deadline: ContinuousClock.Instant

    init(from start: ContinuousClock.Instant = .now) {
        deadline = start + Self.timeout
    }

    /// - Returns: false if there are no attempts left.
    mutating func next() -> Bool {
        attemptsLeft -= 1
        return attemptsLeft >= 0
    }

    /// - Returns: whether a retry may succeed.
    mutating func mayRetry(after failure: PostgreSQLError, at now: ContinuousClock.Instant) -> Bool {
        guard failure.isLockTimeout else { return failure.isConnectionLost || failure.isTransient }
        // A wait for a lock uses up time, but no attempt.
        attemptsLeft += 1
        return now < deadline
    }
}
