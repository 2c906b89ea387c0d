/// An app's service, which sends the requests for the actions of an ``AuthState``. It stores nothing: the state saves what a
/// login returns, since only the state knows whether the user has logged out meanwhile, or has logged in as another user.
///
/// ```swift
/// struct AuthService: AuthServicing {
///     let client: any APIClienting
///
///     func login(email: String, password: String) async throws -> AuthResponse {
///         try await client.send(AuthAPI.login(email: email, password: password))
///     }
///     func register(email: String, password: String, name: String) async throws -> AuthResponse {
///         try await client.send(AuthAPI.register(email: email, password: password, name: name))
///     }
///     func logout() async throws { _ = try await client.send(AuthAPI.logout()) }
///     func fetchUser() async throws -> User { try await client.send(AuthAPI.me()) }
/// }
/// ```
public protocol AuthServicing<User>: Sendable {
    /// The type of the app's user.
    associatedtype User: Codable & Sendable
    /// The type of the response to a login: a ``UserSession``, or a type of the app's own that has one.
    associatedtype Session: UserSessionConvertible<User>

    /// Logs in. A `NetworkError.unauthorized` means that the credentials are wrong.
    func login(email: String, password: String) async throws -> Session
    /// Creates an account and logs in.
    func register(email: String, password: String, name: String) async throws -> Session
    /// Tells the server that the session ends. The stored session is removed even if this fails.
    func logout() async throws
    /// Fetches the user of the stored session.
    func fetchUser() async throws -> User
}

/// The result of a login or a registration: tokens, and the user if the server sends it.
public struct UserSession<User: Codable & Sendable>: UserSessionConvertible {
    /// The tokens of the new session.
    public let tokens: AuthTokens
    /// The user; nil to fetch it after the login.
    public let user: User?

    /// Creates a session that isn't stored yet.
    public init(tokens: AuthTokens, user: User?) {
        self.tokens = tokens
        self.user = user
    }

    public var userSession: UserSession<User> { self }
}

/// A server's response to a login or a registration, which contains a ``UserSession``.
///
/// ```swift
/// extension AuthResponse: UserSessionConvertible {
///     var userSession: UserSession<User> { UserSession(tokens: tokens, user: user) }
/// }
/// ```
public protocol UserSessionConvertible<User>: Sendable {
    /// The type of the app's user.
    associatedtype User: Codable & Sendable

    /// The tokens and the user.
    var userSession: UserSession<User> { get }
}
