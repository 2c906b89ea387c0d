internal import NevodSupport

/// One at a time for each key, in the order of arrival, within this process.
package final class KeyedTurns<Key: Hashable & Sendable>: Sendable {
    /// Those who wait, for each key that is taken.
    private let taken = Locked<[Key: [Waiter<Void>]]>([:])

    package init() {}

    /// - Throws: `CancellationError`; ``NetworkError/timeout(_:)`` at the end.
    package func take(_ key: Key, until end: ContinuousClock.Instant) async throws {
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
            try await waiter?.value(until: end)
        } catch {
            // The one whose turn it is may keep it for long.
            taken.withLock { $0[key]?.removeAll { $0 === waiter } }
            throw error
        }
    }

    package func release(_ key: Key) {
        while let waiter = next(key) {
            if waiter.resume(with: .success(())) { return }
        }
    }

    /// How many wait.
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
