/// What becomes of a request after an attempt.
public enum RetryDecision: Sendable, Hashable {
    /// The outcome is the request's, for this reason.
    case giveUp(RetryRefusal)
    /// So long, then send it again.
    case wait(Duration)
}
