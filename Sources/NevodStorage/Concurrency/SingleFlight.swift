internal import NevodSupport

/// One execution of an operation at a time, whose outcome all get who asked while it ran.
///
/// Whoever stops waiting stops only waiting: the operation goes on, since what it has begun, the exchange of a token, can't
/// be taken back.
package final class SingleFlight<Outcome: Sendable>: Sendable {
    private struct State {
        var isFlying = false
        var waiting: [Waiter<Outcome>] = []
    }

    private let state = Locked(State())

    package init() {}

    package var isFlying: Bool { state.withLock { $0.isFlying } }
    package var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for the operation under way; if none is, starts `operation`.
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

    /// Runs `operation`, unless one is under way: then nothing.
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

    /// Waits for the operation under way; nil if none is.
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
