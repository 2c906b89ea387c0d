internal import Glibc
internal import NevodSupport

/// Locks for the keys of a store that several processes use. Each is one byte of a file, far beyond its end, which the kernel locks
/// for an open file description. When the process dies, the file is closed and the lock released.
///
/// The byte's offset is a digest of the key. Two keys with the same digest share a lock.
package struct RenewalLocks: Sendable {
    /// Longer than a renewal over the network takes. A lock that is held for longer belongs to a process that was stopped.
    package static let timeout: Duration = .seconds(120)

    let path: String
    private let guardPath: String?

    /// - Parameters:
    ///   - path: The lock file, created with mode 0600 when a lock is first taken.
    ///   - guardPath: An existing file or folder that keeps the lock's holders apart from others if the lock file is removed
    ///     (``RenewalLock``); by default the folder of the lock file. One that other users may open is not used.
    package init(path: String, guardedBy guardPath: String? = nil) {
        self.path = path
        self.guardPath = guardPath ?? path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    }

    /// Waits without blocking a thread of Swift's pool, or the store's own thread: the holder of the lock may need that to save.
    ///
    /// - Parameter check: Called under the lock; the body is not called if it throws.
    package func withLock(
        for key: StorageKey, timeout: Duration = Self.timeout, check: @Sendable () async throws -> Void = {},
        _ body: @Sendable () async -> Void
    ) async throws {
        let deadline = ContinuousClock.now + timeout
        let place = place(of: key)
        do {
            try await Self.mutexes.lock(place, until: deadline)
        } catch is DeadlineExceededError {
            throw isBusy(key, timeout)
        }
        let lock: RenewalLock
        switch await self.lock(place, until: deadline) {
        case .taken(let taken): lock = taken
        case .failed(let error):
            Self.mutexes.unlock(place)
            throw error
        case .abandoned(let error):
            guard error is DeadlineExceededError else { throw error }
            throw isBusy(key, timeout)
        }
        defer {
            // Explicitly, since the lock may have other references.
            lock.release()
            Self.mutexes.unlock(place)
        }
        try await check()
        await body()
    }

    /// A byte of a lock file.
    struct Place: Hashable {
        let path: String
        let offset: Int
    }

    /// Lets one waiter of this process ask the kernel at once. A thread that is blocked in the kernel can't be interrupted: if its
    /// waiter gives up, the thread keeps the mutex, so that further waiters don't block a thread each.
    static let mutexes = KeyedMutex<Place>()

    func place(of key: StorageKey) -> Place {
        // Shifted into the positive range of file offsets.
        Place(path: path, offset: Int(key.digest >> 2))
    }

    private enum Outcome {
        case taken(RenewalLock)
        case failed(any Error)
        /// The waiter gave up; the thread that still waits unlocks the mutex.
        case abandoned(any Error)
    }

    private func lock(_ place: Place, until deadline: ContinuousClock.Instant) async -> Outcome {
        let lock = RenewalLock(place.path, offset: place.offset, guardedBy: guardPath)
        do throws(StorageError) {
            if try lock.take(waiting: false) { return .taken(lock) }
        } catch {
            return .failed(error)
        }
        return await wait(for: lock, place, until: deadline) ?? .taken(lock)
    }

    /// - Returns: nil once the lock is taken.
    private func wait(for lock: RenewalLock, _ place: Place, until deadline: ContinuousClock.Instant) async -> Outcome? {
        let waiter = Waiter<Void>()
        let hasStarted = SystemThread.start {
            let result = Result { _ = try lock.take(waiting: true) }
            guard !waiter.resume(with: result) else { return }
            lock.release()
            Self.mutexes.unlock(place)
        }
        guard hasStarted else {
            return .failed(
                StorageError(
                    .unavailable, path, problem: "can't be waited for: the system has no thread left",
                    remedy: "raise the limit on threads (ulimit -u, or pids.max of the cgroup)"))
        }
        do {
            try await waiter.value(until: deadline)
            return nil
        } catch let error as StorageError {
            return .failed(error)
        } catch {
            return .abandoned(error)
        }
    }

    private func isBusy(_ key: StorageKey, _ timeout: Duration) -> StorageError {
        StorageError(
            .busy, path, problem: "another process has been renewing \(key) for \(timeout)",
            remedy: "find it with: fuser '\(path)'")
    }
}
