import NevodSessions

struct SportsService: Sendable {
    let client: any APIClienting

    func names() async throws -> [String] {
        try await client.send(SportsAPI.all()).map(\.name)
    }

    func remove(_ name: String) async throws {
        _ = try await client.send(SportsAPI.remove(name))
    }

    func upload(_ image: [UInt8], progress: @escaping ProgressHandler) async throws -> Int {
        try await client.send(SportsAPI.upload(image), uploadProgress: progress).bytes
    }
}

struct AuthService: AuthServicing {
    let client: any APIClienting

    func login(email: String, password: String) async throws -> AuthResponse {
        try await client.send(AuthAPI.login(email: email, password: password))
    }

    func register(email: String, password: String, name: String) async throws -> AuthResponse {
        try await client.send(AuthAPI.register(email: email, password: password, name: name))
    }

    func logout() async throws {
        _ = try await client.send(AuthAPI.logout())
    }

    func fetchUser() async throws -> User {
        try await client.send(AuthAPI.me())
    }
}

extension AuthResponse: UserSessionConvertible {
    var userSession: UserSession<User> {
        UserSession(tokens: AuthTokens(accessToken: accessToken, refreshToken: refreshToken), user: user)
    }
}
