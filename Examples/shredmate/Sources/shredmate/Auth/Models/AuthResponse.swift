import NevodSessions

/// The response to a login or a registration: the user, and the tokens of a new session.
struct AuthResponse: Codable, Sendable, UserSessionConvertible {
    let accessToken: String
    let refreshToken: String
    let user: User

    var tokens: AuthTokens { AuthTokens(accessToken: accessToken, refreshToken: refreshToken) }
    var userSession: UserSession<User> { UserSession(tokens: tokens, user: user) }
}
