// Routes: `SimpleDeleteRoute(endpoint:domain:)`
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
    let route = SimpleDeleteRoute<EmptyResponse, Shop>(endpoint: "/items/1", domain: .api)
    print(route.endpoint)
}
