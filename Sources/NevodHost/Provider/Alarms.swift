internal import NevodSupport

/// What is to be done at an instant, for all who wait in this process: a timer for each of 10,000 waiting requests would
/// cost more than the requests.
final class Alarms: Sendable {
    typealias Action = @Sendable () -> Void

    private struct State {
        var queue = DeadlineQueue<Action>()
        /// When the next sleeper wakes; nil: nobody sleeps.
        var wakeUp: ContinuousClock.Instant?

        /// Notes that somebody must sleep until the earliest deadline, unless somebody who wakes by then sleeps already.
        mutating func planSleep() -> ContinuousClock.Instant? {
            guard let earliest = queue.earliest, wakeUp.map({ earliest < $0 }) ?? true else { return nil }
            wakeUp = earliest
            return earliest
        }
    }

    static let shared = Alarms()

    private let state = Locked(State())

    /// Returns a number for ``cancel(_:)``. The action runs at most once, outside every lock, and must not wait.
    func set(at deadline: ContinuousClock.Instant, _ action: @escaping Action) -> UInt64 {
        let (number, wakeUp) = state.withLock { ($0.queue.insert(action, at: deadline), $0.planSleep()) }
        if let wakeUp { sleep(until: wakeUp) }
        return number
    }

    func cancel(_ number: UInt64) {
        state.withLock { $0.queue.remove(number) }
    }

    /// One who sleeps is never woken early: if the alarm is cancelled, nothing is due, and if there is none left, nobody
    /// sleeps on. Detached, since it serves others than the request that began it.
    private func sleep(until instant: ContinuousClock.Instant) {
        Task.detached {
            try? await Task.sleep(until: instant, clock: .continuous)
            self.ring()
        }
    }

    private func ring() {
        let now = ContinuousClock.now
        let (due, wakeUp) = state.withLock { state in
            if state.wakeUp.map({ $0 <= now }) == true { state.wakeUp = nil }
            return (state.queue.popDue(now: now), state.planSleep())
        }
        for action in due { action() }
        if let wakeUp { sleep(until: wakeUp) }
    }
}
