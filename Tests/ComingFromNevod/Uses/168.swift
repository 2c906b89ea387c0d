// Paginator: `paginator.loadNext/loadAll/reset/allItems/totalCount/hasMore`
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
    let pages = Paginator<Item, [Item], Shop>.simple(provider: provider(), endpoint: "/items", domain: .api)
    let first: [Item] = try await pages.loadNext()
    let rest: [Item] = try await pages.loadAll()
    print(first, rest, await pages.allItems, await pages.totalCount ?? 0, await pages.hasMore)
    await pages.reset()
}
