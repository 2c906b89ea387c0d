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
