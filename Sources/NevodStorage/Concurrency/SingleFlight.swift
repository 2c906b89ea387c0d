internal import NevodSupport

/// Runs at most one execution of an operation. Callers that arrive while it runs share its outcome.
///
/// A caller stops waiting when it is cancelled or its deadline passes. The operation itself continues, because the exchange of a
/// token can't be undone once it has begun.
package final class SingleFlight<Outcome: Sendable>: Sendable {
    private struct State {
        var isRunning = false
        var waiting: [Waiter<Outcome>] = []
    }

    private let state = Locked(State())

    package init() {}

    package var isRunning: Bool { state.withLock { $0.isRunning } }
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for the operation under way. If there is none, starts `operation` and waits for it.
    package func join(
        until deadline: ContinuousClock.Instant?, or operation: @escaping @Sendable () async -> Outcome
    ) async throws -> Outcome {
        let waiter = Waiter<Outcome>()
        let isFirst = state.withLock { state in
            state.waiting.append(waiter)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst {
            Task {
                let outcome = await operation()
                finish(with: outcome)
            }
        }
        return try await waiter.value(until: deadline)
    }

    /// Starts `operation` without waiting for it, unless one is under way.
    package func start(_ operation: @escaping @Sendable () async -> Outcome) {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return }
        Task { finish(with: await operation()) }
    }

    /// Runs `operation` in the calling task. If one is already under way, returns nil without running it.
    package func runIfIdle(_ operation: @escaping @Sendable () async -> Outcome) async throws -> Outcome? {
        let isFirst = state.withLock { state in
            defer { state.isRunning = true }
            return !state.isRunning
        }
        guard isFirst else { return nil }
        let outcome = await operation()
        finish(with: outcome)
        return outcome
    }

    /// Waits for the operation under way. Returns nil if there is none.
    package func outcome(until deadline: ContinuousClock.Instant?) async throws -> Outcome? {
        let waiter = state.withLock { state -> Waiter<Outcome>? in
            guard state.isRunning else { return nil }
            let waiter = Waiter<Outcome>()
            state.waiting.append(waiter)
            return waiter
        }
        return try await waiter?.value(until: deadline)
    }

    private func finish(with outcome: Outcome) {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(with: .success(outcome)) }
    }
}
