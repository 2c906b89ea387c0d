/// Decides when a failed request is sent again, and how long to wait before: exponential backoff with full jitter.
///
/// Temporary failures are retried: timeouts, lost connections, and the statuses 408, 429, 500, 502, 503 and 504. 500 is included
/// because large services return it for temporary faults, and repeating a request that is safe to repeat does no harm. Retried
/// are the methods that RFC 9110 §9.2.2 defines as idempotent (GET, HEAD, OPTIONS, TRACE, PUT, DELETE), requests with an
/// `Idempotency-Key`, and other requests only if the server can't have acted on them, because it was never reached or returned
/// 429. A body that can be read only once is never sent again.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts including the first; 1 disables retries.
    public var maxAttempts: Int
    /// The maximum wait before the second attempt.
    public var baseDelay: Duration
    /// The maximum wait before any attempt. If a server's `Retry-After` is longer, the request is not retried.
    public var maxDelay: Duration
    /// The factor by which the maximum wait grows with each attempt.
    public var multiplier: Double
    /// Whether each wait is random, from zero to the full delay, so that clients that failed together don't retry together.
    public var jitter: Bool
    /// Whether methods that aren't idempotent are retried too. A POST whose response was lost may then take effect twice.
    public var retriesUnsafeMethods: Bool
    /// Whether each retry is taken out of the provider's budget, a share of all its requests; false for a request that a person
    /// repeats a fixed number of times.
    public var isBudgeted: Bool

    /// Limits the time from the first attempt to the beginning of the last; nil for no limit.
    public var maxTime: Duration? = nil
    /// Whether failures that aren't temporary are retried too, such as an untrusted certificate or a malformed response. A response is
    /// no failure, whatever its status.
    public var retriesAllFailures = false

    /// Creates a policy; the defaults are those of ``default``. A negative delay counts as zero.
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

    /// Creates a policy with delays in seconds.
    public init(
        maxAttempts: Int = 3, baseDelay: Double, maxDelay: Double = 60, multiplier: Double = 2, jitter: Bool = true,
        retriesUnsafeMethods: Bool = false, isBudgeted: Bool = true
    ) {
        self.init(
            maxAttempts: maxAttempts, baseDelay: Duration(boundedSeconds: baseDelay),
            maxDelay: Duration(boundedSeconds: maxDelay),
            multiplier: multiplier, jitter: jitter, retriesUnsafeMethods: retriesUnsafeMethods, isBudgeted: isBudgeted)
    }

    /// 3 attempts, with waits of up to 1 s and 2 s.
    public static let `default` = RetryPolicy()
    /// 5 attempts, with waits that start at up to 0.5 s and grow to 30 s at most, for interactive use.
    public static let aggressive = RetryPolicy(maxAttempts: 5, baseDelay: .milliseconds(500), maxDelay: .seconds(30))
    /// 2 attempts, with a wait of 2 s, and no retry if the server asks for more than 10 s.
    public static let conservative = RetryPolicy(
        maxAttempts: 2, baseDelay: .seconds(2), maxDelay: .seconds(10), jitter: false)
    /// No retries.
    public static let none = RetryPolicy(maxAttempts: 1)

    /// The maximum wait after a number of attempts: `baseDelay × multiplier ^ (attempts − 1)`, up to `maxDelay`.
    package func delay(after attempts: Int) -> Duration {
        var delay = baseDelay.inSeconds
        let longest = maxDelay.inSeconds
        for _ in 1..<max(1, min(attempts, 1_000)) where delay < longest { delay *= multiplier }
        return delay < longest ? Duration(boundedSeconds: delay) : maxDelay
    }
}

extension RetryPolicy: CustomStringConvertible {
    /// `3 attempts, waits of up to 1.0 s, then × 2.0, at most 60.0 s`.
    public var description: String {
        guard maxAttempts > 1 else { return "no retries" }
        let upTo = jitter ? "up to " : ""
        return "\(maxAttempts) attempts, waits of \(upTo)\(baseDelay.inSeconds) s, then × \(multiplier), "
            + "at most \(maxDelay.inSeconds) s"
    }
}
