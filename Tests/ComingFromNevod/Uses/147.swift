// Errors: `error.decode(T.self, using: decoder)`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item = try failure().decode(Item.self, using: JSONDecoder())
    print(item)
}
