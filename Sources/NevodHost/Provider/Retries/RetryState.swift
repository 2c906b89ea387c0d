/// Applies a ``RetryPolicy`` to one request: a state machine that neither sends nor waits.
package struct RetryState: Sendable {
    let policy: RetryPolicy
    /// The number of attempts made.
    package private(set) var attempts: Int
    /// When the first attempt began; nil as long as the policy doesn't need it.
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
