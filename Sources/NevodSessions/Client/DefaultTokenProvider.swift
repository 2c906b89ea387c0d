public import Foundation
public import NevodHost

/// Renews tokens with POST `/auth/refresh`. The body is `{"refreshToken": "…"}`, and the response has new tokens:
/// `{"accessToken": "…", "refreshToken": "…"}`. If the response has no refresh token, the old one stays.
///
/// ```swift
/// let tokenProvider = DefaultTokenProvider(tokenStorage: storage, baseURL: "https://api.example.com/v1")
/// ```
public struct DefaultTokenProvider: TokenProvider {
    public let tokens: SessionTokens
    private let exchange: @Sendable (AuthTokens) async throws -> AuthTokens

    /// - Parameters:
    ///   - tokenStorage: stores the session.
    ///   - baseURL: the service's absolute URL.
    ///   - path: the path of the refresh endpoint, below the base URL's.
    ///   - encoder: encodes the request's property `refreshToken`; a key strategy can make it `refresh_token`.
    ///   - decoder: decodes the response, with the properties `accessToken`, `refreshToken` and `expiresAt`; the last two may be
    ///     missing.
    ///   - session: the transport.
    public init<User>(
        tokenStorage: SessionStorage<User>, baseURL: some URLRepresentation, path: EndpointPath = "/auth/refresh",
        encoder: JSONEncoder = CodingDefaults.encoder, decoder: JSONDecoder = CodingDefaults.decoder,
        session: any HTTPTransport = CurlSession()
    ) {
        // Has no interceptor, so that the refresh can't wait for itself.
        let client = NetworkProvider.quick(baseURL: baseURL, jsonEncoder: encoder, jsonDecoder: decoder, session: session)
        self.init(tokenStorage: tokenStorage) { old in
            let response = try await client.send(
                Endpoint<RefreshResponse>.post(path, body: RefreshRequest(refreshToken: old.refreshToken)))
            return AuthTokens(
                accessToken: response.accessToken, refreshToken: response.refreshToken ?? old.refreshToken,
                expiresAt: response.expiresAt)
        }
    }

    /// Renews tokens in another way.
    ///
    /// - Parameters:
    ///   - tokenStorage: stores the session.
    ///   - refresh: returns new tokens for the old ones; see ``TokenProvider/refresh(_:)``.
    public init<User>(
        tokenStorage: SessionStorage<User>, refresh: @escaping @Sendable (AuthTokens) async throws -> AuthTokens
    ) {
        tokens = tokenStorage.tokens
        exchange = refresh
    }

    public func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
        try await exchange(tokens)
    }
}

private struct RefreshRequest: Encodable, Sendable {
    let refreshToken: String
}

private struct RefreshResponse: Decodable, Sendable {
    let accessToken: String
    let refreshToken: String?
    let expiresAt: Date?
}
