// NetworkProvider: `post(_:body: Encodable)`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item: Item = try await provider().post("/items", body: Item(id: 1))
    print(item)
}
