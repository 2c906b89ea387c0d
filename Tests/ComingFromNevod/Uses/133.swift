// Errors: `pattern .clientError(let code, let data, let response)`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private func use() async throws {
    if case .clientError(let code, let data, let response) = failure() { print(code, data?.count ?? 0, response as Any) }
}
