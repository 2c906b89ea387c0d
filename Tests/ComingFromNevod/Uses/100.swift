// Routes: `Route whose struct is not Sendable`
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

    private final class Draft {
        var name = "tea"
    }

    private struct Shelf: Route {
        typealias Response = Item

        let draft = Draft()
        var domain: Shop { .api }
        var endpoint: String { "/shelves" }
        var method: HTTPMethod { .get }
        var parameters: [String: String]? { ["name": draft.name] }
    }

    private func use() async throws {
        print(Shelf().endpoint)
    }
#else
    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private struct Item: Codable, Sendable {
        let id: Int
    }

    private final class Draft: Sendable {
        let name = "tea"
    }

    private struct Shelf: Route {
        typealias Response = Item

        let draft = Draft()
        var domain: Shop { .api }
        var endpoint: String { "/shelves" }
        var method: HTTPMethod { .get }
        var parameters: [String: String]? { ["name": draft.name] }
    }

    private func use() async throws {
        print(Shelf().endpoint)
    }
#endif
