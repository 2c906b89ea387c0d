// Errors: `.unknown(error)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let error = NetworkError.unknown(URLError(.unknown))
    print(error)
}
