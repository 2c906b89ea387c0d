// Paginator: `Paginator.cursor(... cursorKey:limitKey:pageSize:)`
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
    let pages = Paginator<Item, CursorPageResponse<Item>, Shop>.cursor(
        provider: provider(), endpoint: "/items", domain: .api, cursorKey: "after", limitKey: "count", pageSize: 20)
    print(pages)
}
