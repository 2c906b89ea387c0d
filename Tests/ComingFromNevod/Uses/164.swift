// Paginator: `Paginator.standard(provider:endpoint:domain:style:)`
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
    let pages = Paginator<Item, StandardPageResponse<Item>, Shop>.standard(
        provider: provider(), endpoint: "/items", domain: .api, style: .pageNumber(pageSize: 20))
    print(pages)
}
