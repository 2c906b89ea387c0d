// NetworkProvider: `provider.request(route) -> Result`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private func config() -> NetworkConfig {
    NetworkConfig(environments: [Shop.api: SimpleEnvironment(baseURL: "https://shop.example")])
}

private func provider() -> NetworkProvider {
    NetworkProvider(config: config())
}

private struct Item: Codable, Sendable {
    let id: Int
}

private func use() async throws {
    let route = SimpleGetRoute<Item, Shop>(endpoint: "/items/1", domain: .api)
    let result: Result<Item, NetworkError> = await provider().request(route)
    print(result)
}
