import NevodSessions

/// The requests of an account. They save nothing: an `AuthState` saves what they return, because only it knows whether the user has
/// done something else meanwhile. (An `AuthService`, in contrast, also keeps the session.)
struct AuthRequests: AuthServicing {
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
