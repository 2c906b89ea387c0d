// Routes: `EncodablePostRoute(endpoint:domain:body:)`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let route = EncodablePostRoute<Item, Item, Shop>(endpoint: "/items", domain: .api, body: Item(id: 1))
    print(route.endpoint)
}
