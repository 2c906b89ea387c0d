// Routes: `EncodablePutRoute / EncodablePatchRoute`
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
    let put = EncodablePutRoute<Item, Item, Shop>(endpoint: "/items/1", domain: .api, body: Item(id: 1))
    let patch = EncodablePatchRoute<Item, Item, Shop>(endpoint: "/items/1", domain: .api, body: Item(id: 1))
    print(put.endpoint, patch.endpoint)
}
