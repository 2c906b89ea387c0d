internal import NevodHost

/// The pause after failed requests to a server: what the server asks for, or else longer after each failure in a row. A state
/// machine without a clock: callers pass the time.
struct Backoff: Sendable {
    /// The number of failures in a row, up to 100.
    private(set) var failures = 0
    private var resumesAt: UnixTime?
    private let delays: RetryPolicy
    private let longestPause: Duration

    /// - Parameters:
    ///   - baseDelay: The pause after the first failure.
    ///   - maxDelay: The longest pause if the server doesn't ask for one.
    ///   - longestPause: The longest pause that a server can ask for.
    init(baseDelay: Duration, maxDelay: Duration, longestPause: Duration) {
        delays = RetryPolicy(baseDelay: baseDelay, maxDelay: maxDelay)
        self.longestPause = longestPause
    }

    /// The rest of the pause; nil if there is none.
    func rest(at now: UnixTime) -> Duration? {
        // If the rest of the pause is longer than any pause can be, the clock was set back, and the pause is ignored.
        guard let resumesAt, resumesAt > now, resumesAt - now <= longestPause else { return nil }
        return resumesAt - now
    }

    /// - Parameter asked: The pause that the server asks for, if any.
    mutating func fail(asked: Duration?, at now: UnixTime) {
        failures = min(failures + 1, 100)
        resumesAt = now + min(asked ?? delays.delay(after: failures), longestPause)
    }

    mutating func succeed() {
        failures = 0
        resumesAt = nil
    }
}
