/// A renewal of tokens that has succeeded or failed.
public struct TokenRefreshEvent: Sendable, Hashable {
    /// The cause of the failure; nil for a success.
    public let failure: RefreshFailure?
    /// The time that the renewal took, with all its requests.
    public let duration: Duration

    /// Creates an event.
    ///
    /// - Parameters:
    ///   - failure: the cause of the failure; nil for a success.
    ///   - duration: the time that the renewal took. A negative one counts as zero.
    public init(failure: RefreshFailure? = nil, duration: Duration) {
        self.failure = failure
        self.duration = max(.zero, duration)
    }
}
