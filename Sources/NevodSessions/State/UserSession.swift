/// The result of a login or a registration: tokens, and the user if the server sends it.
public struct UserSession<User: Codable & Sendable>: UserSessionConvertible {
    /// The tokens of the new session.
    public let tokens: AuthTokens
    /// The user; nil to fetch it after the login.
    public let user: User?

    /// Creates a session that isn't stored yet.
    public init(tokens: AuthTokens, user: User?) {
        self.tokens = tokens
        self.user = user
    }

    public var userSession: UserSession<User> { self }
}
