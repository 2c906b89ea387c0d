// README: Quick Example
import Foundation
import NevodHostFoundation

private struct Item: Codable, Sendable {
    let id: Int
}

private let config = NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])
private let provider = NetworkProvider(config: config)

private enum Shop: ServiceDomain {
    case api
    var identifier: String { "api" }
}

private func use() async throws {
    let route = SimpleGetRoute<Item, Shop>(
        endpoint: "/items/1",
        domain: .api
    )
    let item = try await provider.perform(route)
    print(item)
}
