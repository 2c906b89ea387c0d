/// The profile of a user, which other riders see.
struct Rider: Codable, Sendable, Hashable, Identifiable {
    let id: String
    var name: String
    var type: RiderType
    var description: String?
    /// Below the server's origin; nil without an avatar.
    var avatarUrl: String?
}
