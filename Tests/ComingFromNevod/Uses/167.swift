// Paginator: `Paginator init with ResponseParser`
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

private struct Page: Decodable, Sendable {
    let items: [Item]
    let next: String?
    let total: Int?
}

private func use() async throws {
    let parser = Paginator<Item, Page, Shop>.ResponseParser(
        extractItems: { $0.items }, hasMore: { $0.next != nil }, nextCursor: { $0.next }, totalCount: { $0.total })
    let pages = Paginator<Item, Page, Shop>(
        provider: provider(), endpoint: "/items", domain: .api,
        style: .cursor(cursorKey: "after", limitKey: "count", pageSize: 20),
        parser: parser)
    print(pages)
}
