internal import NevodSupport

/// Lets so many requests start in a time, first come, first served. Whoever is cancelled leaves the queue at once, and those
/// behind move up.
public final class RateLimiter: RateLimiting {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var queue: RateLimitQueue<Waiter>
        /// There is one while somebody waits, and none otherwise. One that is late finds that its number has passed.
        var isTiming = false
        var timerNumber = 0
        var timer: Task<Void, Never>?
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - configuration: how many requests may start in which time.
    ///   - clock: for tests, one that stands still until it is told.
    public init<C: Clock>(_ configuration: RateLimitConfiguration, clock: C = ContinuousClock()) where C.Duration == Duration {
        state = Locked(State(queue: RateLimitQueue(configuration)))
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }

    /// Who waits now.
    var waiting: Int { state.withLock { $0.queue.count } }

    public func acquire() async throws {
        try Task.checkCancellation()
        if state.withLock({ $0.queue.goAtOnce(now: now()) }) { return }
        let number = Locked<UInt64?>(nil)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in enter(waiter, number) }
        } onCancel: {
            leave(number)
        }
    }

    private func enter(_ waiter: Waiter, _ number: borrowing Locked<UInt64?>) {
        let (isCancelled, newTimer) = state.withLock { state -> (Bool, Int?) in
            // Under the lock: who is cancelled from here on is found in the queue.
            guard !Task.isCancelled else { return (true, nil) }
            let place = state.queue.append(waiter)
            number.withLock { $0 = place }
            guard !state.isTiming else { return (false, nil) }
            state.isTiming = true
            state.timerNumber += 1
            return (false, state.timerNumber)
        }
        if isCancelled { waiter.resume(throwing: CancellationError()) }
        if let newTimer { startTimer(newTimer) }
    }

    private func leave(_ number: borrowing Locked<UInt64?>) {
        let (waiter, timer) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let place = number.withLock({ $0 }), let waiter = state.queue.remove(place) else { return (nil, nil) }
            guard state.queue.isEmpty else { return (waiter, nil) }
            state.isTiming = false
            defer { state.timer = nil }
            return (waiter, state.timer)
        }
        timer?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    // MARK: The timer

    private func startTimer(_ number: Int) {
        // Detached: it serves everyone, and must not keep the values of the task that came first.
        let timer = Task.detached { await self.time(number) }
        let isLate = state.withLock { state in
            guard state.isTiming, state.timerNumber == number else { return true }
            state.timer = timer
            return false
        }
        if isLate { timer.cancel() }
    }

    /// Lets waiters go until there are none.
    private func time(_ number: Int) async {
        while true {
            let (going, pause) = state.withLock { state -> ([Waiter], Duration?) in
                guard state.isTiming, state.timerNumber == number else { return ([], nil) }
                let step = state.queue.advance(now: now())
                if step.pause == nil {
                    state.isTiming = false
                    state.timer = nil
                }
                return step
            }
            for waiter in going { waiter.resume() }
            guard let pause else { return }
            // Cancelled only when the last waiter has left, which the next round finds.
            try? await sleep(pause)
        }
    }
}
