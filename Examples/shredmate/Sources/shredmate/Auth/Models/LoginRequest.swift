/// The body of a login.
struct LoginRequest: Codable, Sendable {
    let email: String
    let password: String
}
