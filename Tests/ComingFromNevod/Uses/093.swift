// NetworkProvider: `patch(_:body:)`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item: Item = try await provider().patch("/items/1", body: Item(id: 1))
    print(item)
}
