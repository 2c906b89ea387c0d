/// What a scheme makes of an answer.
enum Verdict: Int32, Sendable {
    case nothing = 0
    /// The next request will use the new state.
    case stateChanged
    /// The state has changed such that the same request would now pass.
    case retryOnce
    /// A challenge flow first.
    case challenge
}
