internal import NevodSupport

/// A mutex for each key within this process, granted in the order of arrival.
package final class KeyedMutex<Key: Hashable & Sendable>: Sendable {
    /// The waiters for each locked key.
    private let waiters = Locked<[Key: [Waiter<Void>]]>([:])

    package init() {}

    /// - Throws: `CancellationError`; ``DeadlineExceededError``.
    package func lock(_ key: Key, until deadline: ContinuousClock.Instant) async throws {
        let waiter = waiters.withLock { waiters -> Waiter<Void>? in
            guard waiters[key] != nil else {
                waiters[key] = []
                return nil
            }
            let waiter = Waiter<Void>()
            waiters[key]?.append(waiter)
            return waiter
        }
        do {
            try await waiter?.value(until: deadline)
        } catch {
            // The mutex may be held for long: without this, a waiter that gave up would stay queued until then.
            waiters.withLock { $0[key]?.removeAll { $0 === waiter } }
            throw error
        }
    }

    package func unlock(_ key: Key) {
        while let waiter = next(key) {
            if waiter.resume(with: .success(())) { return }
        }
    }

    /// The number of waiters.
    package func waitingCount(_ key: Key) -> Int { waiters.withLock { $0[key]?.count ?? 0 } }

    private func next(_ key: Key) -> Waiter<Void>? {
        waiters.withLock { waiters in
            guard let waiting = waiters[key], !waiting.isEmpty else {
                waiters[key] = nil
                return nil
            }
            return waiters[key]?.removeFirst()
        }
    }
}
