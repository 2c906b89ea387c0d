// Retry / rate limit: `RetryPolicy(maxAttempts:baseDelay:maxDelay:multiplier:jitter:) seconds`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let policy = RetryPolicy(maxAttempts: 4, baseDelay: 0.5, maxDelay: 20, multiplier: 3, jitter: false)
    print(policy)
}
