internal import NevodSupport

/// Limits how many requests start in an interval, in order of arrival. A cancelled waiter leaves the queue at once, and the
/// waiters behind it move up.
public final class RateLimiter: RateLimiting {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var queue: RateLimitQueue<Waiter>
        /// Whether a timer runs, which is the case while there are waiters. A timer whose number isn't `timerNumber` is outdated.
        var isTiming = false
        var timerNumber = 0
        var timer: Task<Void, Never>?
    }

    private let state: Locked<State>
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Creates a limiter.
    ///
    /// - Parameters:
    ///   - configuration: the limit.
    ///   - clock: the clock; tests pass one that they control.
    public init<C: Clock>(_ configuration: RateLimitConfiguration, clock: C = ContinuousClock()) where C.Duration == Duration {
        state = Locked(State(queue: RateLimitQueue(configuration)))
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }

    /// The number of waiters.
    var waiting: Int { state.withLock { $0.queue.count } }

    public func acquire() async throws {
        try Task.checkCancellation()
        if state.withLock({ $0.queue.startImmediately(now: now()) }) { return }
        let number = Locked<UInt64?>(nil)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (waiter: Waiter) in enter(waiter, number) }
        } onCancel: {
            leave(number)
        }
    }

    private func enter(_ waiter: Waiter, _ number: borrowing Locked<UInt64?>) {
        let (isCancelled, newTimer) = state.withLock { state -> (Bool, Int?) in
            // Checked under the lock: a waiter cancelled from here on is found in the queue.
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
        // Detached: the timer serves all waiters, and must not inherit the task-local values of the first.
        let timer = Task.detached { await self.time(number) }
        let isLate = state.withLock { state in
            guard state.isTiming, state.timerNumber == number else { return true }
            state.timer = timer
            return false
        }
        if isLate { timer.cancel() }
    }

    /// Resumes waiters as the limit allows, until there are none.
    private func time(_ number: Int) async {
        while true {
            let (started, pause) = state.withLock { state -> ([Waiter], Duration?) in
                guard state.isTiming, state.timerNumber == number else { return ([], nil) }
                let step = state.queue.advance(now: now())
                if step.pause == nil {
                    state.isTiming = false
                    state.timer = nil
                }
                return step
            }
            for waiter in started { waiter.resume() }
            guard let pause else { return }
            // Cancelled only when the last waiter has left; the next round then returns.
            try? await sleep(pause)
        }
    }
}
