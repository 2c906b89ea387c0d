/// A scheme's decision about a response.
public enum Verdict: Int32, Sendable {
    /// The response doesn't concern this scheme.
    case nothing = 0
    /// Continue; later requests use the new state.
    case stateChanged = 1
    /// For a challenge: send the request once more, since with the new state it should succeed. A second time for one request, and for
    /// any other response, it counts as ``stateChanged``.
    case retryOnce = 2
    /// For a challenge: run ``ChallengeFlow/challenge(_:_:_:)``, or without one log in, then send the request again.
    case challenge = 3
    /// The response can't be trusted: the request fails, and nothing of its body reaches the caller. Throw a ``SchemeError`` instead to
    /// give the reason.
    case refuse = 4
}
