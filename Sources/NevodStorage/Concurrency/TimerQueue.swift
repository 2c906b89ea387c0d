internal import NevodSupport

/// The timers of all waiters in this process, served by one sleeping task: with 10,000 waiting requests, a task for each would cost
/// more than the requests.
package final class TimerQueue: Sendable {
    package typealias Action = @Sendable () -> Void

    private struct State {
        var queue = DeadlineQueue<Action>()
        /// The instant at which the earliest sleeping task wakes; nil if none sleeps.
        var wakeUp: ContinuousClock.Instant?

        /// - Returns: the earliest deadline if a new task has to sleep until then; nil if a sleeping task wakes in time.
        mutating func planSleep() -> ContinuousClock.Instant? {
            guard let earliest = queue.earliest, wakeUp.map({ earliest < $0 }) ?? true else { return nil }
            wakeUp = earliest
            return earliest
        }
    }

    package static let shared = TimerQueue()

    private let state = Locked(State())

    /// Schedules an action, which runs at most once, outside every lock, and must not block.
    ///
    /// - Returns: a number for ``cancel(_:)``.
    package func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping Action) -> UInt64 {
        let (number, wakeUp) = state.withLock { ($0.queue.insert(action, at: deadline), $0.planSleep()) }
        if let wakeUp { sleep(until: wakeUp) }
        return number
    }

    package func cancel(_ number: UInt64) {
        state.withLock { $0.queue.remove(number) }
    }

    /// A sleeping task is never woken early: after its timer was cancelled it finds nothing due, and ends if no timer is left.
    /// Detached, because it also serves requests other than the one that started it.
    private func sleep(until instant: ContinuousClock.Instant) {
        Task.detached {
            try? await Task.sleep(until: instant, clock: .continuous)
            self.fire()
        }
    }

    private func fire() {
        let now = ContinuousClock.now
        let (due, wakeUp) = state.withLock { state in
            if state.wakeUp.map({ $0 <= now }) == true { state.wakeUp = nil }
            return (state.queue.popDue(now: now), state.planSleep())
        }
        for action in due { action() }
        if let wakeUp { sleep(until: wakeUp) }
    }
}
