// Errors: `NetworkError.unauthorized(data: nil, response: nil)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let error = NetworkError.unauthorized(data: nil, response: nil)
    print(error)
}
