public import Foundation
public import NevodHost

extension RateLimitConfiguration {
    /// Creates a limit with an interval in seconds.
    public init(requests: Int, perInterval: TimeInterval) {
        self.init(requests: requests, interval: perInterval)
    }

    /// The interval in seconds.
    public var perInterval: TimeInterval { interval / .seconds(1) }
}

extension RateLimiter {
    /// Creates a limiter.
    public convenience init(configuration: RateLimitConfiguration) {
        self.init(configuration)
    }
}

extension RateLimiting {
    /// The same as `RateLimiting.acquire()`.
    public func acquirePermit() async throws {
        try await acquire()
    }
}
