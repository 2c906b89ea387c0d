/// When a request is sent again, and how long to wait before: exponential backoff with full jitter.
///
/// Sent again is what may pass: time-outs, lost connections, 408, 429, 500, 502, 503 and 504. 500 is among them because large
/// services answer it for faults that pass, and a request that may be repeated at all does no harm a second time. Repeated are
/// the methods that RFC 9110 §9.2.2 calls idempotent (GET, HEAD, OPTIONS, TRACE, PUT, DELETE), requests with an
/// `Idempotency-Key`, and others only where the server can't have acted on them: when it was never reached, or said 429.
/// A body that can be read only once is never sent again.
public struct RetryPolicy: Sendable, Hashable {
    /// With the first one; 1 is no retry.
    public var maxAttempts: Int
    /// The longest wait before the second attempt.
    public var baseDelay: Duration
    /// No wait is longer. A server that asks for more (`Retry-After`) is not asked again.
    public var maxDelay: Duration
    /// How much longer each wait may be than the one before.
    public var multiplier: Double
    /// Waits any time from none to the whole delay, so that clients which failed together don't come back together.
    public var jitter: Bool
    /// Repeats every method as an idempotent one: a POST whose answer was lost may then take effect twice.
    public var retriesUnsafeMethods: Bool
    /// Takes each retry out of the provider's ``RetryBudget``; false for a request that a person repeats a fixed number of times.
    public var isBudgeted: Bool

    /// The defaults are those of ``default``. Delays that are not positive are none.
    public init(
        maxAttempts: Int = 3, baseDelay: Duration = .seconds(1), maxDelay: Duration = .seconds(60), multiplier: Double = 2,
        jitter: Bool = true, retriesUnsafeMethods: Bool = false, isBudgeted: Bool = true
    ) {
        self.maxAttempts = maxAttempts
        self.baseDelay = baseDelay
        self.maxDelay = maxDelay
        self.multiplier = multiplier
        self.jitter = jitter
        self.retriesUnsafeMethods = retriesUnsafeMethods
        self.isBudgeted = isBudgeted
    }

    /// The same with delays in seconds.
    public init(
        maxAttempts: Int = 3, baseDelay: Double, maxDelay: Double = 60, multiplier: Double = 2, jitter: Bool = true,
        retriesUnsafeMethods: Bool = false, isBudgeted: Bool = true
    ) {
        self.init(
            maxAttempts: maxAttempts, baseDelay: Duration(boundedSeconds: baseDelay),
            maxDelay: Duration(boundedSeconds: maxDelay),
            multiplier: multiplier, jitter: jitter, retriesUnsafeMethods: retriesUnsafeMethods, isBudgeted: isBudgeted)
    }

    /// 3 attempts, waits of up to 1 and 2 s.
    public static let `default` = RetryPolicy()
    /// 6 attempts, waits from up to 0.2 s on: for a person who waits.
    public static let aggressive = RetryPolicy(maxAttempts: 6, baseDelay: .milliseconds(200), maxDelay: .seconds(10))
    /// 2 attempts, a wait of up to 5 s: for a server that is easily overwhelmed.
    public static let conservative = RetryPolicy(maxAttempts: 2, baseDelay: .seconds(5), maxDelay: .seconds(120))
    /// Never a second attempt.
    public static let none = RetryPolicy(maxAttempts: 1)

    /// The longest wait after so many attempts: `baseDelay × multiplier ^ (attempts − 1)`, up to `maxDelay`.
    func delay(after attempts: Int) -> Duration {
        var delay = baseDelay.inSeconds
        let longest = maxDelay.inSeconds
        for _ in 1..<max(1, min(attempts, 1_000)) where delay < longest { delay *= multiplier }
        return delay < longest ? Duration(boundedSeconds: delay) : maxDelay
    }
}
