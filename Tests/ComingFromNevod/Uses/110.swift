// Routes: `SimplePutRoute(bodyParameters:)`
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
    let route = SimplePutRoute<Item, Shop>(endpoint: "/items/1", domain: .api, bodyParameters: ["name": "tea"])
    print(route.endpoint)
}
