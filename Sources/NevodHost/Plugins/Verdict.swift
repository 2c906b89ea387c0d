/// The decision of a scheme's `on_response` about a response.
enum Verdict: Int32, Sendable {
    case nothing = 0
    /// The next request will use the new state.
    case stateChanged
    /// The state has changed so that the same request would now succeed.
    case retryOnce
    /// A challenge flow is needed before the retry.
    case challenge
    /// The response can't be trusted.
    case refuse
}
