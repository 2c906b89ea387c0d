// Errors: `.invalidResponse(data:response:)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let error = NetworkError.invalidResponse(data: Data(), response: nil)
    print(error)
}
