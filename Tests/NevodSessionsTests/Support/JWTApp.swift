import NevodHost
import NevodSessions

/// A client with typed responses over a storage, made like in a guide.
struct JWTApp {
    let storage: SessionStorage<User>
    let client: JWTAuthClient

    init(
        _ url: String, storage: some KeyValueStorage = InMemoryStorage(), retryPolicy: RetryPolicy = .none,
        session: any HTTPTransport = CurlSession(), interceptors: [any RequestInterceptor] = [],
        onSessionInvalidated: (@Sendable () async -> Void)? = nil
    ) {
        let storage = SessionStorage<User>(storage: storage)
        self.storage = storage
        client = JWTAuthClient(
            baseURL: url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: url), retryPolicy: retryPolicy,
            session: session, interceptors: interceptors, onSessionInvalidated: onSessionInvalidated)
    }

    @discardableResult
    func logIn(_ email: String = "ada@example.com") async throws -> AuthTokens {
        let response: SuccessResponse<AuthResponse> = try await client.send(API.login(email))
        try await client.saveSession(response.tokens)
        return response.tokens
    }
}
