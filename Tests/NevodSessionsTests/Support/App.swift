import NevodHost
import NevodSessions

/// The parts of an app: a user, its API as endpoints, and a client over a storage.
struct User: Codable, Hashable, Sendable {
    var id: Int
    var email: String
}

struct Sport: Codable, Hashable, Sendable {
    var name: String
}

struct AuthResponse: Codable, Sendable, UserSessionConvertible {
    var tokens: AuthTokens
    var user: User

    var userSession: UserSession<User> { UserSession(tokens: tokens, user: user) }
}

struct Uploaded: Codable, Hashable, Sendable {
    var bytes: Int
}

enum API {
    struct Credentials: Codable, Sendable {
        var email: String
        var password: String
    }

    static func login(_ email: String, _ password: String = "secret") -> Endpoint<AuthResponse> {
        .post("/auth/login", body: Credentials(email: email, password: password))
    }
    static func me() -> Endpoint<User> { .get("/auth/me", auth: .bearerToken) }
    static func logout() -> Endpoint<EmptyResponse> { .post("/auth/logout", auth: .bearerToken) }
    static func sports() -> Endpoint<[Sport]> { .get("/sports", auth: .bearerToken) }
}

/// The app's parts, made like in a guide.
struct App {
    let storage: SessionStorage<User>
    let client: AuthenticatingHTTPClient

    init(
        _ url: String, storage: some KeyValueStorage = InMemoryStorage(), session: any HTTPTransport = CurlSession(),
        onSessionInvalidated: (@Sendable () async -> Void)? = nil
    ) {
        let storage = SessionStorage<User>(storage: storage)
        self.storage = storage
        client = AuthenticatingHTTPClient(
            baseURL: url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: url, session: session),
            session: session, onSessionInvalidated: onSessionInvalidated)
    }

    func logIn(_ email: String = "ada@example.com") async throws {
        let response = try await client.send(API.login(email))
        try await storage.save(response.tokens, user: response.user)
    }
}
