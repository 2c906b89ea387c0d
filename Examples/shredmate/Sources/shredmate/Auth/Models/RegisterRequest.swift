/// The body of a registration.
struct RegisterRequest: Codable, Sendable {
    let email: String
    let password: String
    let name: String
}
