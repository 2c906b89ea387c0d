internal import NevodSupport

/// The timers of all waiters in this process, served by one sleeping task. With 10,000 waiting requests, a task for each would
/// cost more than the requests.
package final class TimerQueue: Sendable {
    package typealias Action = @Sendable () -> Void

    private struct State {
        var queue = DeadlineQueue<Action>()
        /// The instant at which the earliest sleeping task wakes; nil if no task sleeps.
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

    /// Schedules an action. It runs at most once, outside every lock, and must not block.
    ///
    /// - Returns: a number for ``cancel(_:)``.
    package func schedule(at deadline: ContinuousClock.Instant, _ action: @escaping Action) -> UInt64 {
        let (number, mustSleep) = state.withLock { state in
            // Most timers are due after the next wake-up, so this doesn't call `planSleep`, which searches for the earliest
            // deadline.
            let mustSleep = state.wakeUp.map { deadline < $0 } ?? true
            if mustSleep { state.wakeUp = deadline }
            return (state.queue.insert(action, at: deadline), mustSleep)
        }
        if mustSleep { sleep(until: deadline) }
        return number
    }

    package func cancel(_ number: UInt64) {
        state.withLock { $0.queue.remove(number) }
    }

    /// A sleeping task is never woken early. If its timer was cancelled, it finds nothing due, and ends if no timer is left. The
    /// task is detached, because it also serves requests other than the one that started it.
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

/// Orders values by deadline, the earliest first: a binary heap without a clock.
///
/// Most values are removed long before their deadline. The heap entry of a removed value stays until it reaches the top, or until
/// more than half of the entries are stale. So removals are cheap, and stale entries never outnumber the others.
struct DeadlineQueue<Value> {
    private struct Entry {
        let deadline: ContinuousClock.Instant
        let number: UInt64
    }

    private var heap: [Entry] = []
    private var values: [UInt64: Value] = [:]
    private var lastNumber: UInt64 = 0

    /// The earliest deadline of all values; nil if there is none.
    var earliest: ContinuousClock.Instant? {
        mutating get {
            while let first = heap.first, values[first.number] == nil { removeFirst() }
            return heap.first?.deadline
        }
    }

    var heapCount: Int { heap.count }

    /// - Returns: the value's number, for ``remove(_:)``.
    mutating func insert(_ value: Value, at deadline: ContinuousClock.Instant) -> UInt64 {
        lastNumber += 1
        values[lastNumber] = value
        heap.append(Entry(deadline: deadline, number: lastNumber))
        var child = heap.count - 1
        while child > 0, heap[child].deadline < heap[(child - 1) / 2].deadline {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        return lastNumber
    }

    /// No effect if the value is gone.
    mutating func remove(_ number: UInt64) {
        guard values.removeValue(forKey: number) != nil, heap.count > 64, heap.count > 2 * values.count else { return }
        // A sorted array is a valid heap.
        heap = heap.filter { values[$0.number] != nil }.sorted { $0.deadline < $1.deadline }
    }

    /// Removes and returns the values whose deadline has passed, in order.
    mutating func popDue(now: ContinuousClock.Instant) -> [Value] {
        var due: [Value] = []
        while let first = heap.first, first.deadline <= now {
            if let value = values.removeValue(forKey: first.number) { due.append(value) }
            removeFirst()
        }
        return due
    }

    private mutating func removeFirst() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child].deadline < heap[least].deadline
            {
                least = child
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
