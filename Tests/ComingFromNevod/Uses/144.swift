// Errors: `error.httpResponse: HTTPURLResponse?`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private func use() async throws {
    let head: HTTPURLResponse? = failure().httpResponse
    print(head?.statusCode ?? 0)
}
