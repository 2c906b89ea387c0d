import Foundation

/// An account, as a login and `GET /auth/me` return it.
struct User: Codable, Sendable, Hashable, Identifiable {
    let id: String
    var email: String
    var name: String
    var createdAt: Date
}
