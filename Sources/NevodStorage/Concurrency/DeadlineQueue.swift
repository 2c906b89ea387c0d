/// Orders values by deadline, the earliest first: a binary heap without a clock.
///
/// Most values are removed long before their deadline. The heap entry of a removed value stays until it reaches the top, or until
/// more than half of the entries are such: removals are cheap, and removed entries never outnumber the others.
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
