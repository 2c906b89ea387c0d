/// A snapshot of the token in a ``TokenStorage``.
public struct StoredToken<Token: TokenModel>: Sendable {
    /// Nil if none is stored.
    public let token: Token?
    /// Changes whenever the token changes.
    public let version: TokenVersion
}
