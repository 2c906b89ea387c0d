/// Why a request is not sent again.
public enum RetryRefusal: Sendable, Hashable {
    /// Another attempt would come to the same: it was answered, refused for good, or cancelled.
    case finalOutcome
    /// As many attempts were made as ``RetryPolicy/maxAttempts`` allows.
    case attemptsUsedUp
    /// The server may have acted on it, and its method is not idempotent (RFC 9110 §9.2.2).
    case notIdempotent
    /// The body can be read only once, and has been.
    case bodyNotReplayable
    /// `Retry-After` is longer than the policy's longest wait: to come earlier would be in vain.
    case serverAsksForMore(Duration)
    /// Of all requests, too many have been retries (``RetryBudget``).
    case budgetExhausted
}
