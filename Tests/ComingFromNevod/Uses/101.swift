// Routes: `Route overriding urlQueryItems`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    // Compiles, but the request is made without urlQueryItems.
    private enum Shop: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private struct Item: Codable, Sendable {
        let id: Int
    }

    private struct Shelf: Route {
        typealias Response = [Item]

        var domain: Shop { .api }
        var endpoint: String { "/shelves" }
        var method: HTTPMethod { .get }
        var parameters: [String: String]? { nil }
        var urlQueryItems: [URLQueryItem]? { [URLQueryItem(name: "tag", value: "a"), URLQueryItem(name: "tag", value: "b")] }
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

    private struct Shelf: Route {
        typealias Response = [Item]

        var domain: Shop { .api }
        var endpoint: String { "/shelves" }
        var method: HTTPMethod { .get }
        var parameters: [String: String]? { nil }
        var queryList: ParameterList { ["tag": "a", "tag": "b"] }
    }

    private func use() async throws {
        print(Shelf().endpoint)
    }
#endif
