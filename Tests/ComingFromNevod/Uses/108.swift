// Routes: `SimplePostRoute(…bodyParameters:).bodyParameters`
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
    let route = SimplePostRoute<Item, Shop>(endpoint: "/items", domain: .api, bodyParameters: ["name": "tea"])
    let parameters: [String: String]? = route.bodyParameters
    print(parameters ?? [:])
}
