public import NevodHost

/// Tells an authorization server that tokens are no longer used, as at a logout (RFC 7009).
///
/// ```swift
/// let revocation = TokenRevocation(
///     endpoint: "https://login.example.com/revoke", authentication: .publicClient(id: "app"))
/// try await revocation.revoke(tokens)
/// ```
///
/// The rules of ``TokenIntrospection`` for the token's safety hold here too. A server that asks to wait (503 with `Retry-After`) is asked
/// again, up to 3 times, if the wait is at most 5 s.
public struct TokenRevocation: Sendable {
    private let endpoint: TokenEndpoint

    /// - Parameters:
    ///   - endpoint: the endpoint's URL: https, unless the server is on this machine.
    ///   - authentication: shows which client asks.
    ///   - provider: sends the requests.
    ///   - timeout: the limit for all attempts of a request together.
    public init(
        endpoint: some URLRepresentation, authentication: ClientAuthentication,
        provider: NetworkProvider = NetworkProvider(session: CurlSession()), timeout: Duration = .seconds(10)
    ) {
        self.endpoint = TokenEndpoint(
            url: endpoint.urlString, authentication: authentication, provider: provider, timeout: timeout)
    }

    /// Revokes a token. A token that the server doesn't know, or has revoked already, is no error (RFC 7009 §2.2).
    ///
    /// - Throws: ``TokenServiceError`` if the server refuses, as with `unsupportedTokenType`; `NetworkError` for any other failure. The
    ///   token may then still be valid.
    public func revoke(_ token: String, hint: TokenTypeHint? = nil) async throws {
        _ = try await endpoint.post(token, hint)
    }

    /// Revokes the refresh token, which also ends the access tokens of its grant (RFC 7009 §2.1), and then the access token, for servers
    /// that don't end it. A server that revokes no access tokens is no error: they expire.
    public func revoke(_ tokens: AuthTokens) async throws {
        try await revoke(tokens.refreshToken, hint: .refreshToken)
        do { try await revoke(tokens.accessToken, hint: .accessToken) } catch let error as TokenServiceError {
            guard error.code == .unsupportedTokenType else { throw error }
        }
    }
}
