// Routes: `SimplePostRoute(parameters:) (deprecated upstream)`
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
    let route = SimplePostRoute<Item, Shop>(endpoint: "/items", domain: .api, parameters: ["name": "tea"])
    print(route.endpoint)
}
