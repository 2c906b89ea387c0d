/// A scheme's decision about a response.
public enum Verdict: Int32, Sendable {
    /// The response doesn't concern this scheme.
    case nothing = 0
    /// Continue; later requests use the new state.
    case stateChanged = 1
    /// Send the request once more: with the new state it should succeed.
    case retryOnce = 2
    /// Run ``ChallengeFlow/challenge(_:_:_:)``, then send the request again.
    case challenge = 3
}
