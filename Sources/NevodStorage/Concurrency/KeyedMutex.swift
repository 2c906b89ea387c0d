internal import NevodSupport

/// A mutex for each key, taken in the order of arrival, within this process.
package final class KeyedMutex<Key: Hashable & Sendable>: Sendable {
    /// The waiters of each key that is taken.
    private let taken = Locked<[Key: [Waiter<Void>]]>([:])

    package init() {}

    /// - Throws: `CancellationError`; ``DeadlineExceededError``.
    package func lock(_ key: Key, until deadline: ContinuousClock.Instant) async throws {
        let waiter = taken.withLock { taken -> Waiter<Void>? in
            guard taken[key] != nil else {
                taken[key] = []
                return nil
            }
            let waiter = Waiter<Void>()
            taken[key]?.append(waiter)
            return waiter
        }
        do {
            try await waiter?.value(until: deadline)
        } catch {
            // The holder may keep it for long: without this a waiter that gave up would stay in the queue until then.
            taken.withLock { $0[key]?.removeAll { $0 === waiter } }
            throw error
        }
    }

    package func unlock(_ key: Key) {
        while let waiter = next(key) {
            if waiter.resume(with: .success(())) { return }
        }
    }

    /// The number of waiters.
    package func waitingCount(_ key: Key) -> Int { taken.withLock { $0[key]?.count ?? 0 } }

    private func next(_ key: Key) -> Waiter<Void>? {
        taken.withLock { taken in
            guard let waiting = taken[key], !waiting.isEmpty else {
                taken[key] = nil
                return nil
            }
            return taken[key]?.removeFirst()
        }
    }
}
