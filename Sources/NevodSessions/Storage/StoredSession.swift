/// A session as it is stored: tokens and user of one login, read at once.
public struct StoredSession<User: Sendable>: Sendable {
    /// Identifies the session from its login to its end.
    public let session: SessionIdentifier
    /// The tokens.
    public let tokens: AuthTokens
    /// The user; nil if none was saved since the login.
    public let user: User?
}
