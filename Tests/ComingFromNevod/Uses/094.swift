// NetworkProvider: `delete(_:)`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item: Item = try await provider().delete("/items/1")
    print(item)
}
