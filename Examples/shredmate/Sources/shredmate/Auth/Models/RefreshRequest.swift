/// The body of a renewal.
struct RefreshRequest: Codable, Sendable {
    let refreshToken: String
}
