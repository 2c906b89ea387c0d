// Errors: `pattern .clientError(code: let c, data: _, response: _)`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private func use() async throws {
    if case .clientError(code: let code, data: _, response: _) = failure() { print(code) }
    switch failure() {
    case .clientError(code: 404, data: _, response: _): print("none")
    default: print("other")
    }
}
