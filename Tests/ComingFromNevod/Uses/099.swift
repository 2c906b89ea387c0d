// Routes: `Route conformance with decode(_: Data, using: JSONDecoder)`
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
    let domain = Shop.api
    let endpoint = "/shelves"
    let method = HTTPMethod.get
    let parameters: [String: String]? = nil

    func decode(_ data: Data, using decoder: JSONDecoder) throws -> [Item] {
        try decoder.decode([Item].self, from: data)
    }
}

private func use() async throws {
    print(Shelf().endpoint)
}
