/// Decides when waiters may start, in order of arrival: a state machine without clock or threads. Times are relative to any fixed
/// instant.
struct RateLimitQueue<Waiter> {
    private let burst: Int
    private let window: Duration
    /// The last `burst` start times, as a ring buffer; once full, the oldest is at index `oldest`.
    private var starts: [Duration] = []
    private var oldest = 0
    /// Waiters by number, in order of arrival.
    private var waiting: [UInt64: Waiter] = [:]
    private var first: UInt64 = 0
    private var next: UInt64 = 0

    init(_ configuration: RateLimitConfiguration) {
        burst = configuration.burst
        window = configuration.window
    }

    var isEmpty: Bool { waiting.isEmpty }
    var count: Int { waiting.count }

    /// Starts a request if there are no waiters and the limit allows it; returns whether it did.
    mutating func startImmediately(now: Duration) -> Bool {
        guard waiting.isEmpty, delay(now: now) == .zero else { return false }
        start(now)
        return true
    }

    /// Adds a waiter; returns its number, for ``remove(_:)``.
    mutating func append(_ waiter: Waiter) -> UInt64 {
        defer { next += 1 }
        waiting[next] = waiter
        return next
    }

    /// Removes and returns a waiter; nil if it has already started.
    mutating func remove(_ number: UInt64) -> Waiter? {
        waiting.removeValue(forKey: number)
    }

    /// Removes and returns the waiters that may start now, in order, and the pause until the next may; nil if no waiters are
    /// left.
    mutating func advance(now: Duration) -> (started: [Waiter], pause: Duration?) {
        var started: [Waiter] = []
        while !waiting.isEmpty {
            let pause = delay(now: now)
            guard pause == .zero else { return (started, pause) }
            // A number without a waiter belongs to one that was removed.
            if let waiter = waiting.removeValue(forKey: first) {
                start(now)
                started.append(waiter)
            }
            first += 1
        }
        first = next
        return (started, nil)
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
