// Errors: `error.tryDecode(T.self)`
import Foundation
import NevodHostFoundation

private func failure() -> NetworkError {
    .unauthorized
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    if let item = failure().tryDecode(Item.self) { print(item) }
}
