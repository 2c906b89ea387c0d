/// Provides the tokens of an ``AuthenticatingHTTPClient``, and new ones for those that have expired.
///
/// ```swift
/// struct FixedTokens: TokenProvider {
///     let tokens = SessionTokens(storage: InMemoryStorage())
///
///     func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
///         AuthTokens(accessToken: "new", refreshToken: tokens.refreshToken)
///     }
/// }
/// ```
public protocol TokenProvider: Sendable {
    /// The stored tokens.
    var tokens: SessionTokens { get }

    /// Returns new tokens. Requests that need them at once share one call, also those of other clients with the same tokens and of
    /// other processes, if the storage has a renewal lock. It is never cancelled.
    ///
    /// - Throws: `RefreshRejectedError`, or a `NetworkError` with the refusal of a token endpoint (RFC 6749 §5.2), if the server
    ///   refuses: the session then ends. After any other error the stored tokens are kept.
    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens
}
