internal import NevodSupport

/// Runs at most one operation at once, and gives its outcome to every caller that arrived while it ran.
///
/// Cancelling a waiter doesn't cancel the operation, since an exchange of tokens that has begun can't be undone.
package final class SingleFlight<Outcome: Sendable>: Sendable {
    private struct State {
        var isFlying = false
        var waiting: [Waiter<Outcome>] = []
    }

    private let state = Locked(State())

    package init() {}

    package var isFlying: Bool { state.withLock { $0.isFlying } }
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for the running operation, or starts `operation` if there is none.
    package func join(
        until deadline: ContinuousClock.Instant?, or operation: @escaping @Sendable () async -> Outcome
    ) async throws -> Outcome {
        let waiter = Waiter<Outcome>()
        let isFirst = state.withLock { state in
            state.waiting.append(waiter)
            defer { state.isFlying = true }
            return !state.isFlying
        }
        if isFirst {
            Task {
                let outcome = await operation()
                land(outcome)
            }
        }
        return try await waiter.value(until: deadline)
    }

    /// Runs `operation` unless one is running.
    ///
    /// - Returns: nil if one was running.
    package func flyAlone(_ operation: @escaping @Sendable () async -> Outcome) async throws -> Outcome? {
        let isFirst = state.withLock { state in
            defer { state.isFlying = true }
            return !state.isFlying
        }
        guard isFirst else { return nil }
        let outcome = await operation()
        land(outcome)
        return outcome
    }

    /// Waits for the running operation.
    ///
    /// - Returns: nil if none is running.
    package func outcome(until deadline: ContinuousClock.Instant?) async throws -> Outcome? {
        let waiter = state.withLock { state -> Waiter<Outcome>? in
            guard state.isFlying else { return nil }
            let waiter = Waiter<Outcome>()
            state.waiting.append(waiter)
            return waiter
        }
        return try await waiter?.value(until: deadline)
    }

    private func land(_ outcome: Outcome) {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(with: .success(outcome)) }
    }
}
