// Retry / rate limit: `RateLimiter(configuration:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let limiter = RateLimiter(configuration: RateLimitConfiguration(requests: 5, perInterval: 1))
    print(limiter)
}
