internal import NevodSupport

/// Decides when a failed request is sent again, and how long to wait first: exponential backoff with full jitter.
///
/// Temporary failures are retried: timeouts, lost connections, and the statuses 408, 429, 500, 502, 503 and 504. 500 is included
/// because large services return it for temporary faults, and repeating a request that is safe to repeat does no harm. A request
/// is retried if RFC 9110 §9.2.2 defines its method as idempotent (GET, HEAD, OPTIONS, TRACE, PUT, DELETE), or if it has an
/// `Idempotency-Key`. Any other request is retried only if the server can't have acted on it, because it was never reached or
/// returned 429. A body that can be read only once is never sent again.
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
    /// Whether methods that aren't idempotent are retried too. A POST may then take effect twice if its response was lost.
    public var retriesUnsafeMethods: Bool
    /// Whether each retry counts against the provider's retry budget, which is a share of all its requests. False for a request
    /// that a person wants retried a fixed number of times.
    public var isBudgeted: Bool

    /// Limits the time from the first attempt to the beginning of the last; nil for no limit.
    public var maxTime: Duration? = nil
    /// Whether failures that aren't temporary are retried too, such as an untrusted certificate or a malformed response. A
    /// response isn't a failure, whatever its status.
    public var retriesAllFailures = false

    /// Creates a policy. The default values are the same as in ``default``. A negative delay counts as zero.
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

/// Applies a ``RetryPolicy`` to one request: a state machine that neither sends nor waits.
package struct RetryState: Sendable {
    let policy: RetryPolicy
    /// The number of attempts made.
    package private(set) var attempts: Int
    /// When the first attempt began; nil until the policy needs it.
    private var began: ContinuousClock.Instant?

    /// - Parameters:
    ///   - policy: the policy for all attempts.
    ///   - attempts: the number of attempts already made.
    package init(_ policy: RetryPolicy, attempts: Int = 0) {
        self.policy = policy
        self.attempts = attempts
    }

    /// Counts an attempt, and decides whether the request is sent again.
    ///
    /// - Parameters:
    ///   - outcome: the outcome of the attempt.
    ///   - request: the request as it was sent.
    ///   - random: the source of the jitter.
    ///   - now: the time from which a date in `Retry-After` counts if the response has no `Date`.
    ///   - elapsed: the time since the first attempt began.
    package mutating func next(
        after outcome: Result<HTTPResponse, TransportError>, of request: HTTPRequest,
        random: inout some RandomNumberGenerator, now: UnixTime, elapsed: Duration = .zero
    ) -> RetryDecision {
        attempts += 1
        guard let reach = Reach(of: outcome, isAnyFailure: policy.retriesAllFailures) else { return .giveUp(.finalOutcome) }
        guard attempts < policy.maxAttempts else { return .giveUp(.attemptsUsedUp) }
        guard reach == .notActedOn || policy.retriesUnsafeMethods || request.isIdempotent else { return .giveUp(.notIdempotent) }
        guard request.body.canBeMadeAgain else { return .giveUp(.bodyNotReplayable) }

        let backoff = policy.delay(after: attempts)
        var delay = policy.jitter ? Self.random(upTo: backoff, &random) : backoff
        if case .success(let response) = outcome, let asked = response.retryAfter(now: now) {
            guard asked <= policy.maxDelay else { return .giveUp(.serverAsksForMore(asked)) }
            // Retry-After replaces the backoff: the wait is never shorter, and jitter spreads the clients after that instant.
            delay = policy.jitter ? max(asked, min(asked + delay, policy.maxDelay)) : asked
        }
        if let maxTime = policy.maxTime, elapsed + delay > maxTime { return .giveUp(.timeUsedUp) }
        return .wait(delay)
    }

    /// Returns the time since the first attempt began; zero if the policy doesn't limit it.
    ///
    /// - Parameter attempt: when the last attempt began.
    mutating func elapsed(sinceFirst attempt: ContinuousClock.Instant) -> Duration {
        guard policy.maxTime != nil else { return .zero }
        let first = began ?? attempt
        began = first
        return ContinuousClock.now - first
    }

    private static func random(upTo limit: Duration, _ random: inout some RandomNumberGenerator) -> Duration {
        .seconds(Double.random(in: 0...max(0, limit.inSeconds), using: &random))
    }
}

/// Whether the server may have acted on a request that failed temporarily.
private enum Reach {
    /// The request never reached the server, or the server says that it did nothing.
    case notActedOn
    case unknown

    /// Nil if the outcome is not a temporary failure.
    init?(of outcome: Result<HTTPResponse, TransportError>, isAnyFailure: Bool) {
        switch outcome {
        case .success(let response):
            switch response.status {
            // Rejected before processing (RFC 6585 §4).
            case 429: self = .notActedOn
            case 408, 500, 502, 503, 504: self = .unknown
            default: return nil
            }
        case .failure(let error):
            switch error.code {
            case .hostNotFound, .connectionFailed: self = .notActedOn
            case .timedOut, .connectionLost: self = .unknown
            case .tls, .proxyRefused, .pinMismatch:
                guard isAnyFailure else { return nil }
                self = .notActedOn
            case .malformedResponse, .headTooLarge, .bodyTooLarge, .other:
                guard isAnyFailure else { return nil }
                self = .unknown
            case .cancelled, .tlsConfiguration, .requestBody, .rejected: return nil
            }
        }
    }
}

extension HTTPRequest {
    /// Whether sending the request twice has the same effect as once: because of its method (RFC 9110 §9.2.2), or because the
    /// server recognizes the repetition by its `Idempotency-Key`.
    var isIdempotent: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method.rawValue) || headers.contains("Idempotency-Key")
    }
}

/// Whether a request is sent again after an attempt.
package enum RetryDecision: Sendable, Hashable {
    /// The outcome is final, for this reason.
    case giveUp(RetryRefusal)
    /// Send the request again after this wait.
    case wait(Duration)
}

/// Why a request is not sent again.
package enum RetryRefusal: Sendable, Hashable {
    /// Retrying can't change the outcome: it is a success, a permanent failure, or cancellation.
    case finalOutcome
    /// ``RetryPolicy/maxAttempts`` is reached.
    case attemptsUsedUp
    /// The retry would begin after ``RetryPolicy/maxTime``.
    case timeUsedUp
    /// The server may have acted on the request, and its method is not idempotent (RFC 9110 §9.2.2).
    case notIdempotent
    /// The body can be read only once, and has been read.
    case bodyNotReplayable
    /// `Retry-After` is longer than ``RetryPolicy/maxDelay``, and an earlier retry would fail.
    case serverAsksForMore(Duration)
}

extension RetryState {
    var isBudgeted: Bool { policy.isBudgeted }

    /// The log line for a retry that is about to be made: `the server responded with 503; retrying in 2 s (1 of 3)`.
    ///
    /// - Parameters:
    ///   - outcome: the failed attempt's outcome.
    ///   - pause: the wait before the retry, rounded up to whole seconds in the text.
    func notice(of outcome: Result<HTTPResponse, TransportError>, pause: Duration) -> String {
        let reason =
            switch outcome {
            case .success(let response): "the server responded with \(response.status)"
            case .failure(let error): error.description
            }
        let seconds = pause.components.seconds + (pause.components.attoseconds > 0 ? 1 : 0)
        return "\(reason); retrying in \(seconds) s (\(attempts) of \(policy.maxAttempts - 1))"
    }
}

extension HTTPResponse {
    /// The wait that `Retry-After` asks for, in seconds or as a date (RFC 9110 §10.2.3); nil if it is missing or invalid.
    ///
    /// A date counts from the response's own `Date`, or else from `now`.
    package func retryAfter(now: UnixTime) -> Duration? {
        RetryAfter.seconds(
            headers["Retry-After"], sent: headers["Date"], now: now.seconds, date: { HTTPDate.parse($0)?.seconds }
        )
        .map { .seconds($0) }
    }
}
