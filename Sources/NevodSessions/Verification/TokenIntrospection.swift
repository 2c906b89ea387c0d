public import NevodHost

/// Asks an authorization server about a token (RFC 7662). (A `JWTVerifier`, in contrast, reads the token itself, and doesn't learn that
/// it was revoked.)
///
/// ```swift
/// let introspection = TokenIntrospection(
///     endpoint: "https://login.example.com/introspect", authentication: .basic(id: "shop", secret: secret))
/// let token = try await introspection.introspect(text)
/// guard token.isActive, token.scopes.contains("orders") else { … }
/// ```
///
/// The token goes into the body, over TLS or within this machine only, and is in no log and no error. A redirect is not followed, and no
/// response is kept. A server that is busy is asked up to 3 times.
public struct TokenIntrospection: Sendable {
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

    /// Returns what the server says about a token. A token that it doesn't know is not active; that is no error.
    ///
    /// - Throws: ``TokenServiceError`` if the server refuses to say; `NetworkError` for any other failure.
    public func introspect(_ token: String, hint: TokenTypeHint? = nil) async throws -> IntrospectedToken {
        let body = try await endpoint.post(token, hint)
        do { return try IntrospectedToken(body) } catch {
            // Without the body, which may repeat the token.
            throw NetworkError.parsingError(error, data: nil, response: nil)
        }
    }
}
