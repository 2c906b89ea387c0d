// Errors: `pattern .serverError(code: let c, _, _)`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private func use() async throws {
    if case .serverError(code: let code, _, _) = failure() { print(code) }
}
