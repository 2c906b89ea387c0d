// Retry / rate limit: `RetryPolicy.description`
import Foundation
import NevodHostFoundation

private func use() async throws {
    print(RetryPolicy.default.description)
}
