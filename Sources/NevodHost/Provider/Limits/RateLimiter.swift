internal import NevodSupport

/// Limits how many requests start in an interval, in order of arrival. A cancelled waiter leaves the queue at once, and later
/// waiters move up.
public final class RateLimiter: RateLimiting {
    private typealias Waiter = CheckedContinuation<Void, any Error>

    private struct State {
        var queue: RateLimitQueue<Waiter>
        /// Whether a timer runs. One runs while there are waiters. A timer with a number other than `timerNumber` is outdated.
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

/// Decides when a request may start. A provider calls it before each attempt.
///
/// ```swift
/// struct Unlimited: RateLimiting {
///     func acquire() async throws {}
/// }
/// ```
public protocol RateLimiting: Sendable {
    /// Waits until one request may start. Throws `CancellationError` if the task is cancelled meanwhile.
    func acquire() async throws
}

/// Limits how many requests start in an interval.
public struct RateLimitConfiguration: Sendable, Hashable {
    /// The number of requests in ``interval``; at least 1.
    public let requests: Int
    /// The interval that ``requests`` applies to, at most 10⁹ s. Zero limits nothing.
    public let interval: Duration
    /// The number of requests that may start at once after an idle period.
    public let burst: Int

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - requests: the number of requests; less than 1 counts as 1.
    ///   - interval: a sliding window, which also satisfies servers that count in fixed windows; a negative interval counts as
    ///     zero, and an interval of more than 10⁹ s (about 30 years) counts as 10⁹ s.
    ///   - burst: the number of requests that may start at once, at least 1; by default `requests`. 1 spaces requests evenly.
    public init(requests: Int, per interval: Duration, burst: Int? = nil) {
        let requests = max(1, requests)
        self.requests = requests
        self.interval = min(max(.zero, interval), .seconds(1_000_000_000))
        self.burst = max(1, burst ?? requests)
    }

    /// Creates a limit with an interval in seconds; NaN counts as zero.
    public init(requests: Int, interval seconds: Double, burst: Int? = nil) {
        self.init(requests: requests, per: Duration(boundedSeconds: seconds), burst: burst)
    }

    /// The sliding window in which no more than `burst` requests start.
    var window: Duration { Duration(boundedSeconds: interval.inSeconds * Double(burst) / Double(requests)) }
}

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

    /// Removes and returns the waiters that may start now, in order, and the pause until the next one may; the pause is nil if no
    /// waiters are left.
    mutating func advance(now: Duration) -> (started: [Waiter], pause: Duration?) {
        var started: [Waiter] = []
        while !waiting.isEmpty {
            let pause = delay(now: now)
            guard pause == .zero else { return (started, pause) }
            // A number without a waiter belonged to a waiter that was removed.
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
