/// How many requests may start in which time.
public struct RateLimitConfiguration: Sendable, Hashable {
    /// At least 1.
    public let requests: Int
    /// The time that ``requests`` counts for.
    public let interval: Duration
    /// How many may start at once after a quiet time.
    public let burst: Int

    /// - Parameters:
    ///   - requests: at least 1.
    ///   - interval: any time of that length, not one that begins at a full second: a server that counts either way is content.
    ///   - burst: all of `requests` without it; 1 spaces them evenly.
    public init(requests: Int, per interval: Duration, burst: Int? = nil) {
        precondition(requests >= 1 && interval >= .zero, "a limit is at least one request in a time that isn't negative")
        self.requests = requests
        self.interval = interval
        self.burst = max(1, burst ?? requests)
    }

    /// The same with an interval in seconds.
    public init(requests: Int, interval seconds: Double, burst: Int? = nil) {
        self.init(requests: requests, per: Duration(boundedSeconds: seconds), burst: burst)
    }

    /// In any time of this length no more than `burst` start.
    var window: Duration { Duration(boundedSeconds: interval.inSeconds * Double(burst) / Double(requests)) }
}
