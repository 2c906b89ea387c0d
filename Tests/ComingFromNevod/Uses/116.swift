// Routes: `MultipartRoute(endpoint:domain:parts:)`
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
    let parts = [FormDataPart(name: "name", value: "tea")]
    let route = MultipartRoute<Item, Shop>(endpoint: "/labels", domain: .api, parts: parts)
    print(route.endpoint)
}
