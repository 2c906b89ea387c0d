// Retry / rate limit: `policy.baseDelay: TimeInterval`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let seconds: TimeInterval = RetryPolicy.default.baseDelay
    print(seconds)
}
