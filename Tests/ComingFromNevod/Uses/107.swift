// Routes: `SimpleGetRoute(endpoint:domain:queryParameters:)`
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
    let route = SimpleGetRoute<Item, Shop>(endpoint: "/items", domain: .api, queryParameters: ["page": "1"])
    print(route.endpoint)
}
