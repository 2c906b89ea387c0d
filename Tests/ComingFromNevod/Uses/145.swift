// Errors: `error.statusCode/.responseString/.isHTTPError/.isConnectivityError`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private func use() async throws {
    let error = failure()
    let status: Int? = error.statusCode
    let text: String? = error.responseString
    let flags: [Bool] = [error.isHTTPError, error.isConnectivityError]
    print(status ?? 0, text ?? "", flags)
}
