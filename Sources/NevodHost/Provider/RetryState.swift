/// Where one request stands with its policy: a state machine that neither sends nor waits.
public struct RetryState: Sendable {
    private let policy: RetryPolicy
    /// That have been made.
    public private(set) var attempts: Int

    /// - Parameters:
    ///   - policy: decides; it can't change on the way.
    ///   - attempts: made before, whose outcomes this didn't see.
    public init(_ policy: RetryPolicy, attempts: Int = 0) {
        self.policy = policy
        self.attempts = attempts
    }

    /// - Parameters:
    ///   - outcome: of the attempt that has just been made.
    ///   - request: the one that was sent.
    ///   - random: what the jitter is drawn from.
    ///   - now: what a `Retry-After` that is a date is measured against, where the answer has no date of its own.
    ///   - budget: asked last, once nothing else stands against another attempt; see ``RetryBudget/withdraw()``.
    public mutating func next(
        after outcome: Result<HTTPResponse, TransportError>, of request: HTTPRequest,
        random: inout some RandomNumberGenerator, now: UnixTime, budget: () -> Bool = { true }
    ) -> RetryDecision {
        attempts += 1
        guard let reach = Reach(of: outcome) else { return .giveUp(.finalOutcome) }
        guard attempts < policy.maxAttempts else { return .giveUp(.attemptsUsedUp) }
        guard reach == .notActedOn || policy.retriesUnsafeMethods || request.isIdempotent else { return .giveUp(.notIdempotent) }
        guard request.body.isReplayable else { return .giveUp(.bodyNotReplayable) }

        let backoff = policy.delay(after: attempts)
        var delay = policy.jitter ? Self.random(upTo: backoff, &random) : backoff
        if case .success(let response) = outcome, let asked = response.retryAfter(now: now) {
            guard asked <= policy.maxDelay else { return .giveUp(.serverAsksForMore(asked)) }
            // The server's word in place of the backoff; never earlier, and with jitter not everybody at that instant.
            delay = policy.jitter ? max(asked, min(asked + delay, policy.maxDelay)) : asked
        }
        return budget() ? .wait(delay) : .giveUp(.budgetExhausted)
    }

    private static func random(upTo limit: Duration, _ random: inout some RandomNumberGenerator) -> Duration {
        .seconds(Double.random(in: 0...max(0, limit.inSeconds), using: &random))
    }
}

/// How far a request that failed for now has come.
private enum Reach {
    /// The server never saw it, or says that it did nothing.
    case notActedOn
    case unknown

    /// Nil for what doesn't pass.
    init?(of outcome: Result<HTTPResponse, TransportError>) {
        switch outcome {
        case .success(let response):
            switch response.status {
            // It refused before it looked (RFC 6585 §4).
            case 429: self = .notActedOn
            case 408, 500, 502, 503, 504: self = .unknown
            default: return nil
            }
        case .failure(let error):
            switch error.code {
            case .hostNotFound, .connectionFailed: self = .notActedOn
            case .timedOut, .connectionLost: self = .unknown
            case .cancelled, .tls, .tlsConfiguration, .malformedResponse, .headTooLarge, .bodyTooLarge, .proxyRefused,
                .pinMismatch, .requestBody, .other:
                return nil
            }
        }
    }
}

extension HTTPRequest {
    /// Whether a second sending has no further effect: by its method (RFC 9110 §9.2.2), or because the server tells the two
    /// apart by an `Idempotency-Key`.
    var isIdempotent: Bool {
        ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method.rawValue) || headers.contains("Idempotency-Key")
    }
}

extension HTTPResponse {
    /// `Retry-After` (RFC 9110 §10.2.3), in seconds or as a date; nil without one, or with one that is neither.
    ///
    /// A date counts from the answer's own `Date`, so that two clocks which differ don't matter; from `now` without one.
    func retryAfter(now: UnixTime) -> Duration? {
        guard let text = headers["Retry-After"], !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            return .seconds(Int32(text) ?? .max)
        }
        guard let date = HTTPDate.parse(text) else { return nil }
        return max(.zero, date - (headers["Date"].flatMap(HTTPDate.parse) ?? now))
    }
}
