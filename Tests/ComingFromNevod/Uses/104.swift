// Routes: `Route.encodeBody(_:using:)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private struct Item: Codable, Sendable {
        let id: Int
    }

    private func use() async throws {
        let route = SimplePostRoute<Item, Shop>(endpoint: "/items", domain: .api, bodyParameters: ["name": "tea"])
        let data: Data? = route.encodeBody(Item(id: 1), using: JSONEncoder())
        print(data?.count ?? 0)
    }
#else
    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private struct Item: Codable, Sendable {
        let id: Int
    }

    private func use() async throws {
        let route = SimplePostRoute<Item, Shop>(endpoint: "/items", domain: .api, bodyParameters: ["name": "tea"])
        let data: Data? = try route.encodeBody(Item(id: 1), using: JSONEncoder())
        print(data?.count ?? 0)
    }
#endif
