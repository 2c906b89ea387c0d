/// The response to an uploaded avatar.
struct AvatarUploadResponse: Codable, Sendable, Hashable {
    /// Below the server's origin.
    let avatarUrl: String
    /// In bytes.
    let size: Int
}
