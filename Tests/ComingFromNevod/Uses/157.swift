// Retry / rate limit: `policy.performDelay(for:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    try await RetryPolicy.none.performDelay(for: 0)
}
