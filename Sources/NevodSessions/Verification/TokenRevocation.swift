public import NevodHost
internal import NevodOAuth

/// Tells an authorization server that tokens are no longer used, for example at logout (RFC 7009).
///
/// ```swift
/// let revocation = TokenRevocation(
///     endpoint: "https://login.example.com/revoke", authentication: .publicClient(id: "app"))
/// try await revocation.revoke(tokens)
/// ```
///
/// The token is protected as in ``TokenIntrospection``. If the server asks for a pause of at most 5 s (503 with `Retry-After`),
/// the request is sent again, up to 3 times in all.
public struct TokenRevocation: Sendable {
    private let endpoint: TokenService

    /// - Parameters:
    ///   - endpoint: the endpoint's URL: https, unless the server is on this machine.
    ///   - authentication: identifies the client.
    ///   - provider: sends the requests.
    ///   - timeout: the limit for all attempts of a request together.
    public init(
        endpoint: some URLRepresentation, authentication: ClientAuthentication,
        provider: NetworkProvider = NetworkProvider(session: CurlSession()), timeout: Duration = .seconds(10)
    ) {
        self.endpoint = TokenService(
            url: endpoint.urlString, authentication: authentication, provider: provider, timeout: timeout)
    }

    /// Revokes a token. If the server doesn't know the token, or has revoked it already, that isn't an error (RFC 7009 §2.2).
    ///
    /// - Throws: ``TokenServiceError`` if the server refuses, for example with `unsupportedTokenType`; `NetworkError` for any
    ///   other failure. The token may then still be valid.
    public func revoke(_ token: String, hint: TokenTypeHint? = nil) async throws {
        let reply = try await endpoint.post(token, hint)
        if let failure = reply.failure, !Revocation.isRevoked(by: reply.response) { throw failure }
    }

    /// Revokes the refresh token, which should end the access tokens of its grant (RFC 7009 §2.1). Then revokes the access token,
    /// even if the server refused the first request, because some servers don't end it. It isn't an error if a server can't
    /// revoke access tokens: they expire.
    public func revoke(_ tokens: AuthTokens) async throws {
        var revocation = Revocation(hasRefreshToken: true)
        var failure: (any Error)?
        while let kind = revocation.next {
            do {
                let reply = try await endpoint.post(
                    kind == .refresh ? tokens.refreshToken : tokens.accessToken, TokenTypeHint(rawValue: kind.rawValue))
                if !revocation.take(reply.response) { failure = failure ?? reply.failure }
            } catch {
                throw failure ?? error
            }
        }
        if let failure { throw failure }
    }
}
