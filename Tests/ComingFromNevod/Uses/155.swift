// Retry / rate limit: `policy.delay(for:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let seconds: TimeInterval = RetryPolicy.default.delay(for: 0)
    print(seconds)
}
