internal import NevodSupport

/// A lock that a task holds across suspensions. Tasks get it in the order of their arrival.
package final class AsyncLock: Sendable {
    private struct State {
        var isHeld = false
        var waiting = Deque<Waiter<Void>>()
    }

    private let state = Locked(State())

    package init() {}

    package func withLock<Success: Sendable>(_ body: () async throws -> Success) async throws -> Success {
        let waiter = state.withLock { state -> Waiter<Void>? in
            guard state.isHeld else {
                state.isHeld = true
                return nil
            }
            let waiter = Waiter<Void>()
            state.waiting.append(waiter)
            return waiter
        }
        try await waiter?.value(until: nil)
        defer { release() }
        return try await body()
    }

    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    private func release() {
        while let waiter = next() {
            if waiter.resume(with: .success(())) { return }
        }
    }

    private func next() -> Waiter<Void>? {
        state.withLock { state in
            let waiter = state.waiting.popFirst()
            if waiter == nil { state.isHeld = false }
            return waiter
        }
    }
}

/// A mutex for each key within this process. Tasks get it in the order of their arrival.
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
            // The mutex may be held for long. Without this, a waiter that has given up would stay queued until its release.
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
