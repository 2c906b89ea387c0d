// Routes: `EncodableRoute with bodyEncoder: JSONEncoder`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private struct Item: Codable, Sendable {
    let id: Int
}

private struct Order: EncodableRoute {
    typealias Response = Item
    typealias Domain = Shop
    typealias Body = Item

    let domain = Shop.api
    let endpoint = "/orders"
    let method = HTTPMethod.post
    let body: Item?
    var parameters: [String: String]? { nil }
    var bodyEncoder: JSONEncoder { JSONEncoder() }
}

private func use() async throws {
    print(Order(body: Item(id: 1)).endpoint)
}
