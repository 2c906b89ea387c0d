// NetworkProvider: `put(_:body:) both`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let one: Item = try await provider().put("/items/1", body: ["name": "tea"])
    let two: Item = try await provider().put("/items/1", body: Item(id: 1))
    print(one, two)
}
