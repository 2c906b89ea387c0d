public import Foundation

/// The second factor that a server asks for: what an app needs to ask its user. All of it is optional, as servers differ.
public struct MFAChallenge: Sendable, Hashable, Codable {
    /// The kind of factor, in the server's words, such as `totp` or `sms`.
    public var method: String?
    /// Where the code is or was sent to, as far as the server shows it, such as `+48 ••• 12`.
    public var destination: String?
    /// When the challenge expires.
    public var expiresAt: Date?

    /// Creates a challenge.
    public init(method: String? = nil, destination: String? = nil, expiresAt: Date? = nil) {
        self.method = method
        self.destination = destination
        self.expiresAt = expiresAt
    }
}

extension MFAChallenge: CustomStringConvertible {
    /// The kind of factor; a destination may be a user's telephone number.
    public var description: String { method ?? "a second factor" }
}
