// Retry / rate limit: `RateLimitConfiguration(requests:perInterval:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let limit = RateLimitConfiguration(requests: 5, perInterval: 1)
    print(limit)
}
