internal import NevodSupport

/// A lock for tasks that is held across suspensions, and granted in the order of arrival.
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
