internal import NevodStorage
internal import NevodSupport

/// Renewal locks for the keys of a store, shared by all processes that use it: advisory locks of the server, which releases them
/// when their connection ends.
///
/// One connection holds all locks of a process, however many tokens the process renews at once. It never blocks on a lock, since a
/// blocked connection could not release the others: a lock that is taken is tried again when its holder sends a notification of
/// its release, and every half second, in case the holder died without sending one.
final class PostgreSQLRenewalLocks: Sendable {
    private let worker: PostgreSQLWorker
    private let channel: String
    private let store: StoreIdentifier
    /// Advisory locks belong to a connection, so the server would grant one to every task of this process.
    private let mutexes = KeyedMutex<UInt64>()
    private let waiting = Locked<[UInt64: [Waiter<Void>]]>([:])

    init(_ target: PostgreSQLTarget, channel: String, store: StoreIdentifier) {
        worker = PostgreSQLWorker(target)
        self.channel = channel
        self.store = store
    }

    func withLock(
        for key: StorageKey, timeout: Duration = RenewalLocks.timeout, _ body: @Sendable () async -> Void
    ) async throws {
        let lock = number(of: key)
        let deadline = ContinuousClock.now + timeout
        do {
            try await mutexes.lock(lock, until: deadline)
        } catch is DeadlineExceededError {
            throw isBusy(key, lock, timeout)
        }
        defer { mutexes.unlock(lock) }
        let connection = try await take(lock, until: deadline, isBusy(key, lock, timeout))
        await body()
        await release(lock, of: connection)
    }

    /// Wakes the waiters of a lock that another process has released.
    func didRelease(_ lock: UInt64) {
        for waiter in waiting.withLock({ $0[lock] ?? [] }) { waiter.resume(with: .success(())) }
    }

    func number(of key: StorageKey) -> UInt64 {
        StorageKey(rawValue: "\(store) \(key)").digest
    }

    /// - Returns: the number of the worker's connection that holds the lock.
    private func take(_ lock: UInt64, until deadline: ContinuousClock.Instant, _ isBusy: StorageError) async throws -> Int {
        while true {
            // Registered before the attempt, so that no notification of a release is missed.
            let waiter = Waiter<Void>()
            waiting.withLock { $0[lock, default: []].append(waiter) }
            defer { remove(waiter, lock) }
            if let connection = try await tryToTake(lock) { return connection }
            guard ContinuousClock.now < deadline else { throw isBusy }
            do {
                try await waiter.value(until: min(deadline, .now + .milliseconds(500)))
            } catch is DeadlineExceededError {
                continue
            }
        }
    }

    private func remove(_ waiter: Waiter<Void>, _ lock: UInt64) {
        waiting.withLock { waiting in
            waiting[lock]?.removeAll { $0 === waiter }
            if waiting[lock]?.isEmpty == true { waiting[lock] = nil }
        }
    }

    private func tryToTake(_ lock: UInt64) async throws(StorageError) -> Int? {
        do throws(PostgreSQLError) {
            return try await worker.runRetrying { (connection, number) throws(PostgreSQLError) in
                let rows = try connection.run("SELECT pg_try_advisory_lock($1::int8)", [.integer(Int64(bitPattern: lock))])
                return rows.integer(0, 0) == 1 ? number : nil
            }
        } catch {
            throw error.error
        }
    }

    /// Releases the lock. If its connection is gone, the server has released it already.
    private func release(_ lock: UInt64, of connection: Int) async {
        let channel = channel
        _ = try? await worker.run(on: connection) { (connection) throws(PostgreSQLError) in
            _ = try connection.run(
                "SELECT pg_advisory_unlock($1::int8), pg_notify($2::text, $3::text)",
                [.integer(Int64(bitPattern: lock)), .text(channel), .text(PostgreSQLNotification.released(lock).payload)])
        }
    }

    private func isBusy(_ key: StorageKey, _ lock: UInt64, _ timeout: Duration) -> StorageError {
        StorageError(
            .busy, "PostgreSQL", problem: "another process has been renewing \(key) for \(timeout)",
            remedy: """
                find it with: SELECT pid FROM pg_locks WHERE locktype = 'advisory' \
                AND classid = \(lock >> 32) AND objid = \(lock & 0xFFFF_FFFF)
                """)
    }
}
