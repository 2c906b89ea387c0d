// Retry / rate limit: `config.perInterval`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let seconds: TimeInterval = RateLimitConfiguration(requests: 5, perInterval: 1).perInterval
    print(seconds)
}
