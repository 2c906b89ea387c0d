// Routes: `Route conformance, minimal`
import Foundation
import NevodHostFoundation

private enum Shop: ServiceDomain {
    case api

    var identifier: String { "api" }
}

private struct Item: Codable, Sendable {
    let id: Int
}

private struct Shelf: Route {
    typealias Response = [Item]

    let number: Int
    var domain: Shop { .api }
    var endpoint: String { "/shelves/\(number)" }
    var method: HTTPMethod { .get }
    var parameters: [String: String]? { nil }
}

private func use() async throws {
    print(Shelf(number: 1).endpoint)
}
