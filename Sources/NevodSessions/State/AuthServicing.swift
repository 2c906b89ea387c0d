/// The requests behind the actions of an ``AuthState``: an app's service. A service only sends them. The state saves what a login
/// returns, since it alone knows whether the user has logged out, or in as another user, meanwhile.
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
