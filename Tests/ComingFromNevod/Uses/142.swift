// Errors: `error == .timeout`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private func use() async throws {
    print(failure() == .timeout)
}
