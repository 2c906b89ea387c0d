// Paginator: `Paginator Style.cursor(cursorKey:limitKey:pageSize:)`
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
    let style = Paginator<Item, [Item], Shop>.Style.cursor(cursorKey: "after", limitKey: "count", pageSize: 20)
    print(style)
}
