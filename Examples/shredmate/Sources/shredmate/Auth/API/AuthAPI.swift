import NevodSessions

/// The endpoints of an account. Endpoints that start or renew a session need no token, and carry none.
enum AuthAPI {
    static func login(email: String, password: String) -> Endpoint<AuthResponse> {
        .post("/auth/login", body: LoginRequest(email: email, password: password))
    }

    static func register(email: String, password: String, name: String) -> Endpoint<AuthResponse> {
        .post("/auth/register", body: RegisterRequest(email: email, password: password, name: name))
    }

    /// `DefaultTokenProvider` sends the same request, so an app needn't.
    static func refresh(refreshToken: String) -> Endpoint<AuthTokens> {
        .post("/auth/refresh", body: RefreshRequest(refreshToken: refreshToken))
    }

    static func logout() -> Endpoint<EmptyResponse> {
        .post("/auth/logout", auth: .bearerToken)
    }

    static func me() -> Endpoint<User> {
        .get("/auth/me", auth: .bearerToken)
    }
}
