// Retry / rate limit: `RetryPolicy presets`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let policies: [RetryPolicy] = [.default, .aggressive, .conservative, .none]
    print(policies.count)
}
