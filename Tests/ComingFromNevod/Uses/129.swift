// Errors: `throw NetworkError.unauthorized (guides)`
import Foundation
import NevodHostFoundation

private func use() async throws {
    throw NetworkError.unauthorized
}
