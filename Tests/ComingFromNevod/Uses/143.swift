// Errors: `error.responseData: Data?`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private func use() async throws {
    let data: Data? = failure().responseData
    print(data?.count ?? 0)
}
