/// All that an ``AuthState`` shows, at one instant.
public struct AuthStatus<User: Sendable>: Sendable {
    /// Whether a session is stored, as far as the state has read it.
    public internal(set) var isLoggedIn = false
    /// The user; nil if not logged in, or if the user hasn't been fetched yet.
    public internal(set) var user: User?
    /// Whether a login, a registration, a logout or a restoration is in progress.
    public internal(set) var isLoading = false
    /// The error of the last action; nil if it succeeded.
    public internal(set) var error: AuthError?
}
