import NevodHost

enum Service: ServiceDomain {
    case api, cdn

    var identifier: String { self == .api ? "api" : "cdn" }
}

struct User: Codable {
    let id: Int
    let name: String
}

struct Problem: Decodable {
    let message: String
}

struct SearchUsers: Route {
    typealias Response = [User]

    let text: String
    var domain: Service { .api }
    var endpoint: String { "/users/search" }
    var method: HTTPMethod { .get }
    var parameters: [String: String]? { ["q": text] }
}
