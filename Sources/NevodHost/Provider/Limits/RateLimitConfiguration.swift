/// Limits how many requests start in an interval.
public struct RateLimitConfiguration: Sendable, Hashable {
    /// The number of requests in ``interval``; at least 1.
    public let requests: Int
    /// The interval that ``requests`` applies to, from zero, which limits nothing, to 10⁹ s.
    public let interval: Duration
    /// The number of requests that may start at once after an idle period.
    public let burst: Int

    /// Creates a limit.
    ///
    /// - Parameters:
    ///   - requests: the number of requests; less than 1 counts as 1.
    ///   - interval: a sliding window, which also satisfies servers that count in fixed windows; a negative one counts as zero, and one
    ///     of more than 10⁹ s (about 30 years) as 10⁹ s.
    ///   - burst: the number of requests that may start at once, at least 1; by default `requests`. 1 spaces requests evenly.
    public init(requests: Int, per interval: Duration, burst: Int? = nil) {
        let requests = max(1, requests)
        self.requests = requests
        self.interval = min(max(.zero, interval), .seconds(1_000_000_000))
        self.burst = max(1, burst ?? requests)
    }

    /// Creates a limit with an interval in seconds; NaN counts as zero.
    public init(requests: Int, interval seconds: Double, burst: Int? = nil) {
        self.init(requests: requests, per: Duration(boundedSeconds: seconds), burst: burst)
    }

    /// The sliding window in which no more than `burst` requests start.
    var window: Duration { Duration(boundedSeconds: interval.inSeconds * Double(burst) / Double(requests)) }
}
