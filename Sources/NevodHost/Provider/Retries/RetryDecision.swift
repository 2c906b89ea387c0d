/// Whether a request is sent again after an attempt.
package enum RetryDecision: Sendable, Hashable {
    /// The outcome is final, for this reason.
    case giveUp(RetryRefusal)
    /// Send the request again after this wait.
    case wait(Duration)
}
