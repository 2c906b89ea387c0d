// NetworkProvider: `post(_:query:body: [String:String])`
import Foundation
import NevodHostFoundation

private func provider() -> NetworkProvider {
    NetworkProvider.quick(baseURL: "https://shop.example")
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let item: Item = try await provider().post("/items", query: ["dry": "1"], body: ["name": "tea"])
    print(item)
}
