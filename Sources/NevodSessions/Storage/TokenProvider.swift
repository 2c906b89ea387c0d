/// Provides an ``AuthenticatingHTTPClient`` with stored tokens, and renews expired ones.
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

    /// Returns new tokens. Concurrent requests share one call, even across clients with the same tokens, and across processes if
    /// the storage has a renewal lock. The call is never cancelled.
    ///
    /// - Throws: if the server refuses, `RefreshRejectedError` or a `NetworkError` with a token endpoint's refusal (RFC 6749
    ///   §5.2): the session then ends. After any other error the stored tokens are kept.
    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens
}

/// An error that prevented the verification of new tokens, such as missing keys. The tokens themselves may be good.
protocol VerificationFailure: Error {}

/// Renewed tokens that aren't stored yet, because they couldn't be verified.
struct UnverifiedTokens: Sendable {
    /// The stored tokens, which the server may not accept any more.
    let old: AuthTokens
    let new: AuthTokens
}
