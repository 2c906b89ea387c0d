import NevodSessions

/// Starts and ends a session, at the server and in the store.
struct AuthService: Sendable {
    let requests: AuthRequests
    private let tokenStorage: TokenStorage

    init(client: some APIClienting, tokenStorage: TokenStorage) {
        requests = AuthRequests(client: client)
        self.tokenStorage = tokenStorage
    }

    @discardableResult
    func login(email: String, password: String) async throws -> AuthResponse {
        try await keep(requests.login(email: email, password: password))
    }

    @discardableResult
    func register(email: String, password: String, name: String) async throws -> AuthResponse {
        try await keep(requests.register(email: email, password: password, name: name))
    }

    /// Ends the session. It is always removed from the store, so an unreachable server keeps nobody logged in here.
    func logout() async throws {
        guard let session = try await tokenStorage.load()?.session else { return }
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await requests.logout())
        } catch NetworkError.unauthorized {
            // The server has already ended the session.
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        // Another login may have begun a session meanwhile. That one stays.
        try await tokenStorage.clear(session)
        try outcome.get()
    }

    /// Asks the server for the user, and keeps the response.
    @discardableResult
    func fetchUser() async throws -> User {
        let session = try await tokenStorage.load()?.session
        let user = try await requests.fetchUser()
        try await tokenStorage.saveUser(user, of: session)
        return user
    }

    /// Whether a session is stored. Only a request tells whether the server still accepts it.
    func isAuthenticated() async -> Bool {
        await tokenStorage.loadTokens() != nil
    }

    private func keep(_ response: AuthResponse) async throws -> AuthResponse {
        try await tokenStorage.save(response.tokens, user: response.user)
        return response
    }
}
