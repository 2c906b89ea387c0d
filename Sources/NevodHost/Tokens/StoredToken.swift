/// What a ``TokenStorage`` holds at one time.
public struct StoredToken<Token: TokenModel>: Sendable {
    /// Nil: nobody is logged in.
    public let token: Token?
    /// Another one whenever the token has changed.
    public let version: TokenVersion
}
