/// Who may go when, first come, first served: a state machine without clock or threads. Times are counted from any fixed instant.
struct RateLimitQueue<Waiter> {
    private let burst: Int
    private let window: Duration
    /// When the last `burst` went; the oldest at `oldest` once it is full.
    private var starts: [Duration] = []
    private var oldest = 0
    /// By the order of their coming.
    private var waiting: [UInt64: Waiter] = [:]
    private var first: UInt64 = 0
    private var next: UInt64 = 0

    init(_ configuration: RateLimitConfiguration) {
        burst = configuration.burst
        window = configuration.window
    }

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }

    /// True when one may go at once, and has gone: nobody waits, and the limit allows it.
    mutating func goAtOnce(now: Duration) -> Bool {
        guard waiting.isEmpty, delay(now: now) == .zero else { return false }
        start(now)
        return true
    }

    /// Returns the waiter's number, for ``remove(_:)``.
    mutating func append(_ waiter: Waiter) -> UInt64 {
        defer { next += 1 }
        waiting[next] = waiter
        return next
    }

    /// The waiter, unless it has gone already.
    mutating func remove(_ number: UInt64) -> Waiter? {
        waiting.removeValue(forKey: number)
    }

    /// Those who may go now, in order, and how long until the next may; nil when nobody waits any more.
    mutating func advance(now: Duration) -> (going: [Waiter], pause: Duration?) {
        var going: [Waiter] = []
        while !waiting.isEmpty {
            let pause = delay(now: now)
            guard pause == .zero else { return (going, pause) }
            // Numbers without a waiter are of those who left.
            if let waiter = waiting.removeValue(forKey: first) {
                start(now)
                going.append(waiter)
            }
            first += 1
        }
        first = next
        return (going, nil)
    }

    private func delay(now: Duration) -> Duration {
        starts.count < burst ? .zero : max(.zero, starts[oldest] + window - now)
    }

    private mutating func start(_ now: Duration) {
        if starts.count < burst {
            starts.append(now)
        } else {
            starts[oldest] = now
            oldest = (oldest + 1) % burst
        }
    }
}
