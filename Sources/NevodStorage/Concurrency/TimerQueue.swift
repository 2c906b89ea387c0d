internal import NevodSupport

/// The timers of every waiter in this process, behind one sleeping task: a task for each of 10,000 waiting requests would
/// cost more than the requests.
final class TimerQueue: Sendable {
    typealias Action = @Sendable () -> Void

    private struct State {
        var queue = DeadlineQueue<Action>()
        /// The instant at which the earliest sleeping task wakes; nil if none sleeps.
        var wakeUp: ContinuousClock.Instant?

        /// Returns the earliest deadline if a new task has to sleep until it; nil if a sleeping task wakes by then.
        mutating func planSleep() -> ContinuousClock.Instant? {
            guard let earliest = queue.earliest, wakeUp.map({ earliest < $0 }) ?? true else { return nil }
            wakeUp = earliest
            return earliest
        }
    }

    static let shared = TimerQueue()

    private let state = Locked(State())

    /// Returns a number for ``cancel(_:)``. The action runs at most once, outside every lock, and must not wait.
    func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping Action) -> UInt64 {
        let (number, wakeUp) = state.withLock { ($0.queue.insert(action, at: deadline), $0.planSleep()) }
        if let wakeUp { sleep(until: wakeUp) }
        return number
    }

    func cancel(_ number: UInt64) {
        state.withLock { $0.queue.remove(number) }
    }

    /// A sleeping task is never woken early: after a cancelled timer it finds nothing due, and ends if no timer is left.
    /// Detached, since it serves other requests than the one that started it.
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
