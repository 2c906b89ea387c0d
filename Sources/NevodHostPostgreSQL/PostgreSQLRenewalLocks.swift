internal import NevodStorage
internal import NevodSupport

/// Locks for the keys of a store, for all processes that use it: advisory locks of the server's, which frees those of a connection
/// that has ended.
///
/// One connection holds all locks of a process, however many tokens it renews at a time. It never waits for one, since who waits
/// can't let go of another; a lock that is taken is tried again when its holder tells that it is free, and now and then, in case the
/// holder is dead and tells nothing.
final class PostgreSQLRenewalLocks: Sendable {
    private let lane: PostgreSQLLane
    private let channel: String
    private let store: StoreIdentifier
    /// The server's locks are one for a connection: it would give each to all of this process.
    private let turns = KeyedMutex<UInt64>()
    private let waiting = Locked<[UInt64: [Waiter<Void>]]>([:])

    init(_ target: PostgreSQLTarget, channel: String, store: StoreIdentifier) {
        lane = PostgreSQLLane(target)
        self.channel = channel
        self.store = store
    }

    func withLock(
        for key: StorageKey, patience: Duration = RenewalLocks.patience, _ body: @Sendable () async -> Void
    ) async throws {
        let lock = number(of: key)
        let end = ContinuousClock.now + patience
        do {
            try await turns.lock(lock, until: end)
        } catch is DeadlineExceededError {
            throw isBusy(key, lock, patience)
        }
        defer { turns.unlock(lock) }
        let connection = try await take(lock, until: end, isBusy(key, lock, patience))
        await body()
        await release(lock, of: connection)
    }

    /// Another process has let go of one.
    func didRelease(_ lock: UInt64) {
        for waiter in waiting.withLock({ $0[lock] ?? [] }) { waiter.resume(with: .success(())) }
    }

    func number(of key: StorageKey) -> UInt64 {
        StorageKey(rawValue: "\(store) \(key)").digest
    }

    /// - Returns: which of the lane's connections holds it.
    private func take(_ lock: UInt64, until end: ContinuousClock.Instant, _ isBusy: StorageError) async throws -> Int {
        while true {
            // From before it is tried, so that no word of its release is missed.
            let waiter = Waiter<Void>()
            waiting.withLock { $0[lock, default: []].append(waiter) }
            defer { forget(waiter, lock) }
            if let connection = try await tryToTake(lock) { return connection }
            guard ContinuousClock.now < end else { throw isBusy }
            do {
                try await waiter.value(until: min(end, .now + .milliseconds(500)))
            } catch is DeadlineExceededError {
                continue
            }
        }
    }

    private func forget(_ waiter: Waiter<Void>, _ lock: UInt64) {
        waiting.withLock { waiting in
            waiting[lock]?.removeAll { $0 === waiter }
            if waiting[lock]?.isEmpty == true { waiting[lock] = nil }
        }
    }

    private func tryToTake(_ lock: UInt64) async throws(StorageError) -> Int? {
        do throws(PostgreSQLError) {
            return try await lane.runAgain { (connection, number) throws(PostgreSQLError) in
                let rows = try connection.run("SELECT pg_try_advisory_lock($1::int8)", [.integer(Int64(bitPattern: lock))])
                return rows.integer(0, 0) == 1 ? number : nil
            }
        } catch {
            throw error.error
        }
    }

    /// If the connection has gone meanwhile, so has the lock.
    private func release(_ lock: UInt64, of connection: Int) async {
        let channel = channel
        _ = try? await lane.run(on: connection) { (connection) throws(PostgreSQLError) in
            _ = try connection.run(
                "SELECT pg_advisory_unlock($1::int8), pg_notify($2::text, $3::text)",
                [.integer(Int64(bitPattern: lock)), .text(channel), .text(PostgreSQLNews.released(lock).payload)])
        }
    }

    private func isBusy(_ key: StorageKey, _ lock: UInt64, _ patience: Duration) -> StorageError {
        StorageError(
            .busy, "PostgreSQL", problem: "another process has been renewing \(key) for \(patience)",
            remedy: """
                find it with: SELECT pid FROM pg_locks WHERE locktype = 'advisory' \
                AND classid = \(lock >> 32) AND objid = \(lock & 0xFFFF_FFFF)
                """)
    }
}
