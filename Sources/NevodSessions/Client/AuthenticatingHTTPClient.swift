public import Foundation
public import NevodHost

/// Sends requests to one service, and adds the session's bearer token to each request that needs it.
///
/// - An endpoint with `auth: .none`, such as a login, carries no token and doesn't wait for one.
/// - If the server refuses a token with 401, the token is renewed once for all requests that carried it, and they are sent again.
/// - If a renewal fails, for example without a network, the requests that wait for it fail; the session stays.
/// - If the server refuses a renewal, the session ends: tokens and user are removed, and `onSessionInvalidated` is called.
///
/// ```swift
/// let client = AuthenticatingHTTPClient(baseURL: "https://api.example.com/v1", tokenProvider: tokenProvider)
/// let sports = try await client.send(Endpoint<[Sport]>.get("/sports", auth: .bearerToken))
/// ```
///
/// A `NetworkProvider` with an `AuthenticationInterceptor` does the work.
public struct AuthenticatingHTTPClient: HTTPClient {
    /// The provider that sends the requests. Use it for what endpoints don't cover, such as downloads to a file.
    public let provider: NetworkProvider
    let authentication: AuthenticationInterceptor<AuthTokens>
    /// Nil if the base URL is invalid.
    let origin: Origin?
    private let registration: SessionEndHandlers.Registration?

    /// - Parameters:
    ///   - baseURL: the service's absolute URL. Tokens are sent to its origin only.
    ///   - tokenProvider: provides the tokens and renews them.
    ///   - encoder: encodes bodies.
    ///   - decoder: decodes responses.
    ///   - timeout: the limit for all attempts and redirects of a request together; nil for none.
    ///   - retryPolicy: decides when a failed request is sent again.
    ///   - session: the transport.
    ///   - interceptors: further interceptors, which see each request before its token is added.
    ///   - logger: receives a line for each renewal and each retry.
    ///   - onSessionInvalidated: called in its own task, once for each session that ends because the server refused to renew its
    ///     tokens, even if another client with the same tokens asked for the renewal. Called only while a copy of this client
    ///     exists.
    public init(
        baseURL: some URLRepresentation, tokenProvider: some TokenProvider, encoder: JSONEncoder = CodingDefaults.encoder,
        decoder: JSONDecoder = CodingDefaults.decoder, timeout: Duration? = .seconds(30), retryPolicy: RetryPolicy = .default,
        session: any HTTPTransport = CurlSession(), interceptors: [any RequestInterceptor] = [],
        logger: (any NetworkLogger)? = nil, onSessionInvalidated: (@Sendable () async -> Void)? = nil
    ) {
        let origin = try? HTTPRequest(.get, baseURL.urlString).origin
        self.origin = origin
        authentication = AuthenticationInterceptor<AuthTokens>(
            tokenStorage: tokenProvider.tokens.storage,
            refreshStrategy: { old in
                guard let old else { throw NetworkError.unauthorized }
                return try await tokenProvider.refresh(old)
            },
            shouldAuthenticate: { (request: HTTPRequest) in request.origin == origin }, logger: logger)
        provider = NetworkProvider.quick(
            baseURL: baseURL, timeout: timeout, retryPolicy: retryPolicy, jsonEncoder: encoder, jsonDecoder: decoder,
            session: session, interceptor: InterceptorChain(interceptors + [authentication]), logger: logger)
        registration = onSessionInvalidated.map { call in
            tokenProvider.tokens.values.onEnd { end in
                // Called in a new task. In the renewal's own task, a handler that clears the storage would wait for itself.
                if end.reason == .refused { Task { await call() } }
            }
        }
    }

    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
        try await provider.send(endpoint)
    }

    public func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>, uploadProgress: ProgressHandler?) async throws -> T {
        try await provider.send(endpoint, uploadProgress: uploadProgress)
    }

    public func response<T: Decodable & Sendable>(for endpoint: Endpoint<T>) async throws -> HTTPResponse {
        try await provider.response(for: endpoint)
    }
}
