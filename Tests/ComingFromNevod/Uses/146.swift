// Errors: `error.decode(T.self)`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item = try failure().decode(Item.self)
    print(item)
}
