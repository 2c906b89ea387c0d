// Retry / rate limit: `policy.shouldRetry(attempt:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    print(RetryPolicy.default.shouldRetry(attempt: 1))
}
