internal import Glibc
internal import NevodStorage
internal import NevodSupport

/// Renewal locks for the keys of a store, shared by all processes that use it.
///
/// A lock is a mark in the key's row: its holder, a fencing number, and a count of signs of life. The mark outlives the holder's
/// connection, a restart of the server and a failover. Other processes wait until the holder removes the mark, or until they have
/// watched it for long enough without a sign of life. In addition, the holder's connection has an advisory lock on the server.
/// The lock shows that the holder is connected: a holder that dies loses it at once.
///
/// One connection serves all locks of a process, however many tokens the process renews at once. It never blocks on a lock,
/// because a blocked connection could not release the other locks. If a lock is taken, it is tried again when its holder sends a
/// notification of its release, and every half second, in case the notification is lost.
final class PostgreSQLRenewalLocks: Sendable {
    private struct State {
        var held: [StorageKey: PostgreSQLRenewalMark] = [:]
        /// Keys from which this process must remove its marks as soon as the server can be reached, each with the time to give
        /// up.
        var ended: [StorageKey: ContinuousClock.Instant] = [:]
        var isKeeping = false
        /// The number of locks taken so far.
        var count = 0
    }

    /// How long a removal is retried. By then, other processes have long taken over from the silent holder.
    private static let removalTimeout: Duration = .seconds(600)

    private let worker: PostgreSQLWorker
    private let channel: String
    private let store: StoreIdentifier
    private let schema: PostgreSQLSchema
    private let times: PostgreSQLRenewalTimes
    /// The prefix of the names of all holders of this process.
    private let process: String
    /// Advisory locks and marks belong to the process, so the server would grant the same one to several of its tasks.
    private let mutexes = KeyedMutex<UInt64>()
    private let waiting = Locked<[UInt64: [Waiter<Void>]]>([:])
    private let state = Locked(State())

    init(
        _ target: PostgreSQLTarget, _ schema: PostgreSQLSchema, channel: String, store: StoreIdentifier,
        times: PostgreSQLRenewalTimes = PostgreSQLRenewalTimes(), thread: StorageThread = StorageThread()
    ) {
        worker = PostgreSQLWorker(target, thread)
        self.channel = channel
        self.store = store
        self.schema = schema
        self.times = times
        process = "\(Self.hostName) \(getpid()) \(StoreIdentifier.random()) "
    }

    func withLock(
        for key: StorageKey, timeout: Duration = RenewalLocks.timeout, _ body: @Sendable () async -> Void
    ) async throws {
        let lock = number(of: key)
        let deadline = ContinuousClock.now + timeout
        do {
            try await mutexes.lock(lock, until: deadline)
        } catch is DeadlineExceededError {
            throw isBusy(key, lock, timeout, nil)
        }
        defer { mutexes.unlock(lock) }
        try await take(key, lock, until: deadline, timeout)
        await body()
        await release(key)
    }

    /// Checks that this process still holds a lock that it has taken. Asks the server only if the lock was not confirmed
    /// recently.
    ///
    /// - Throws: `StorageError` if another process has taken the lock over, or might have.
    func confirm(_ key: StorageKey) async throws(StorageError) {
        guard let mark = state.withLock({ $0.held[key] }) else { return }
        if !mark.isLost, ContinuousClock.now - mark.confirmed < times.patience / 2 { return }
        guard try await isLost(key) else { return }
        throw StorageError(
            .busy, "PostgreSQL", problem: "another process has taken over the renewal of \(key)",
            remedy: "try again, to use the other process's token")
    }

    /// Asks the server whether another process has taken over a lock that this process has taken.
    func isLost(_ key: StorageKey) async throws(StorageError) -> Bool {
        do throws(PostgreSQLError) { try await beat() } catch { throw error.error }
        return state.withLock { $0.held[key]?.isLost ?? false }
    }

    /// The fencing number to save a value of this key with; nil if this process doesn't hold the key's lock.
    func fence(for key: StorageKey) -> Int64? { state.withLock { $0.held[key]?.fence } }

    /// Wakes the waiters of a lock that another process has released.
    func didRelease(_ lock: UInt64) {
        for waiter in waiting.withLock({ $0[lock] ?? [] }) { waiter.resume(with: .success(())) }
    }

    func number(of key: StorageKey) -> UInt64 {
        StorageKey(rawValue: "\(store) \(key)").digest
    }

    // MARK: Taking

    private func take(
        _ key: StorageKey, _ lock: UInt64, until deadline: ContinuousClock.Instant, _ timeout: Duration
    ) async throws {
        let holder = state.withLock { state in
            state.count += 1
            return "\(process)\(state.count)"
        }
        var watch = PostgreSQLRenewalWatch(patience: times.patience)
        var hasSeenHolder = false
        var isPastTerm = false
        var mayBeMarked = false
        do {
            while true {
                // Registered before the attempt, so that no notification of a release is missed.
                let waiter = Waiter<Void>()
                waiting.withLock { $0[lock, default: []].append(waiter) }
                defer { remove(waiter, lock) }
                let replaceable = watch.replaceable(at: .now)
                var failure: PostgreSQLError?
                do throws(PostgreSQLError) {
                    let attempt = try await self.attempt(key, lock, holder, replaceable, isForced: isPastTerm, &mayBeMarked)
                    if attempt.fence != nil { return keepBeating() }
                    watch.see(attempt.sight, at: .now)
                    (hasSeenHolder, isPastTerm) = (true, attempt.isPastTerm)
                } catch {
                    // A waiter continues to wait while the server is away, because the holder may be in the middle of exchanging
                    // a token.
                    guard hasSeenHolder || error.isLockTimeout else { throw error.error }
                    failure = error
                }
                guard ContinuousClock.now < deadline else {
                    throw failure?.error ?? isBusy(key, lock, timeout, watch.sight)
                }
                do {
                    try await waiter.value(until: min(deadline, .now + .milliseconds(500)))
                } catch is DeadlineExceededError {
                    continue
                }
            }
        } catch {
            // An attempt may have marked the row although its response was lost.
            if mayBeMarked { end(key) }
            throw error
        }
    }

    /// - Parameter mayBeMarked: Becomes true if a connection is lost before the response.
    private func attempt(
        _ key: StorageKey, _ lock: UInt64, _ holder: String, _ replaceable: PostgreSQLRenewalWatch.Sight?, isForced: Bool,
        _ mayBeMarked: inout Bool
    ) async throws(PostgreSQLError) -> PostgreSQLConnection.RenewalAttempt {
        do throws(PostgreSQLError) {
            return try await attempt(key, lock, holder, replaceable, isForced: isForced)
        } catch {
            mayBeMarked = mayBeMarked || error.isConnectionLost
            guard error.isConnectionLost || error.isTransient else { throw error }
        }
        do throws(PostgreSQLError) {
            return try await attempt(key, lock, holder, replaceable, isForced: isForced)
        } catch {
            mayBeMarked = mayBeMarked || error.isConnectionLost
            throw error
        }
    }

    private func attempt(
        _ key: StorageKey, _ lock: UInt64, _ holder: String, _ replaceable: PostgreSQLRenewalWatch.Sight?, isForced: Bool
    ) async throws(PostgreSQLError) -> PostgreSQLConnection.RenewalAttempt {
        let (process, store, schema, times) = (process, store, schema, times)
        return try await worker.run { (connection, number) throws(PostgreSQLError) in
            let start = ContinuousClock.now
            let attempt: PostgreSQLConnection.RenewalAttempt
            do throws(PostgreSQLError) {
                attempt = try connection.mark(
                    key, lock: lock, holder: holder, process: process, replacing: replaceable,
                    isForced: isForced && replaceable != nil, term: times.term, store, schema)
            } catch {
                // If the statement fails, the advisory lock that it has taken stays, so it is released here.
                if !connection.isBroken { try? connection.unlock(lock) }
                throw error
            }
            if let fence = attempt.fence {
                let mark = PostgreSQLRenewalMark(
                    key: key, lock: lock, holder: holder, fence: fence, connection: attempt.isLocked ? number : nil,
                    confirmed: start)
                self.state.withLock { $0.held[key] = mark }
            } else if attempt.isLocked {
                // The holder has lost its connection, and may try to get the advisory lock back.
                try connection.unlock(lock)
            }
            return attempt
        }
    }

    private func remove(_ waiter: Waiter<Void>, _ lock: UInt64) {
        waiting.withLock { waiting in
            waiting[lock]?.removeAll { $0 === waiter }
            if waiting[lock]?.isEmpty == true { waiting[lock] = nil }
        }
    }

    // MARK: Releasing

    private func release(_ key: StorageKey) async {
        guard state.withLock({ $0.held.removeValue(forKey: key) }) != nil else { return }
        do throws(PostgreSQLError) { try await unmark(key) } catch { end(key) }
    }

    /// Removes the mark of this process, unless the process has taken the lock again meanwhile.
    private func unmark(_ key: StorageKey) async throws(PostgreSQLError) {
        let (schema, channel, process, lock) = (schema, channel, process, number(of: key))
        try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in
            // Only this thread takes locks, so the result stays true while the statement runs.
            let (isHeld, isLockHeld) = self.state.withLock { state in
                (state.held[key] != nil, state.held.values.contains { $0.lock == lock })
            }
            guard !isHeld else { return }
            try connection.unmark(key, lock: lock, process: process, mayUnlock: !isLockHeld, schema, channel)
        }
    }

    /// Keeps trying in the background to remove a mark, because other processes wait until it is gone.
    private func end(_ key: StorageKey) {
        state.withLock { $0.ended[key] = .now + Self.removalTimeout }
        keepBeating()
    }

    // MARK: Signs of life

    /// Starts the task that gives signs of life for the held locks, and removes marks whose removal has failed so far.
    private func keepBeating() {
        let mustStart = state.withLock { state in
            defer { state.isKeeping = true }
            return !state.isKeeping
        }
        guard mustStart else { return }
        Task.detached {
            var pause = self.nextPause()
            while let rest = pause {
                try? await Task.sleep(for: rest)
                let isReached = await self.keep()
                // After an outage, other processes watch the mark, so the holder must give a sign of life soon.
                pause = self.nextPause().map { isReached ? $0 : min($0, .milliseconds(300)) }
            }
        }
    }

    /// - Returns: nil if there is nothing left to do; the next lock then starts another task.
    private func nextPause() -> Duration? {
        state.withLock { state in
            state.ended = state.ended.filter { $0.value > .now }
            guard state.held.isEmpty, state.ended.isEmpty else { return state.ended.isEmpty ? times.beat : .milliseconds(300) }
            state.isKeeping = false
            return nil
        }
    }

    /// - Returns: whether the server could be reached.
    private func keep() async -> Bool {
        do throws(PostgreSQLError) {
            try await beat()
            for key in state.withLock({ Array($0.ended.keys) }) {
                try await unmark(key)
                state.withLock { $0.ended[key] = nil }
            }
            return true
        } catch {
            return false
        }
    }

    private func beat() async throws(PostgreSQLError) {
        let marks = state.withLock { Array($0.held.values) }
        guard !marks.isEmpty else { return }
        let (schema, times) = (schema, times)
        try await worker.runRetrying { (connection, number) throws(PostgreSQLError) in
            let start = ContinuousClock.now
            let alive = try connection.beat(marks, term: times.term, schema)
            for mark in marks {
                let isAlive = alive.contains(mark.key)
                self.update(mark) { held in
                    held.isLost = !isAlive
                    if isAlive { held.confirmed = start }
                }
                // The connection is new. If another process's attempt holds the lock for a moment, the next beat succeeds.
                if isAlive, self.isMissingLock(mark, number), try connection.tryToLock(mark.lock) {
                    self.update(mark) { $0.connection = number }
                }
            }
        }
    }

    private func isMissingLock(_ mark: PostgreSQLRenewalMark, _ connection: Int) -> Bool {
        state.withLock { state in
            guard let held = state.held[mark.key], held.holder == mark.holder else { return false }
            return held.connection != connection
        }
    }

    private func update(_ mark: PostgreSQLRenewalMark, _ body: (inout PostgreSQLRenewalMark) -> Void) {
        state.withLock { state in
            guard var held = state.held[mark.key], held.holder == mark.holder else { return }
            body(&held)
            state.held[mark.key] = held
        }
    }

    // MARK: Errors

    private func isBusy(
        _ key: StorageKey, _ lock: UInt64, _ timeout: Duration, _ sight: PostgreSQLRenewalWatch.Sight?
    ) -> StorageError {
        // The host's name and the process's number.
        let words = sight?.holder.split(separator: " ") ?? []
        let place = words.count > 2 ? " (process \(words[1]) on \(words[0]))" : ""
        return StorageError(
            .busy, "PostgreSQL", problem: "another process\(place) has been renewing \(key) for \(timeout)",
            remedy: """
                find it with: SELECT pid FROM pg_locks WHERE locktype = 'advisory' \
                AND classid = \(lock >> 32) AND objid = \(lock & 0xFFFF_FFFF)
                """)
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "?" }
        let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }
}
