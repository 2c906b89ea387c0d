// NetworkProvider: `get(_:query:)`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let items: [Item] = try await provider().get("/items", query: ["page": "1"])
    print(items)
}
