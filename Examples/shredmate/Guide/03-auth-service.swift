// AuthService
func logIn(with auth: AuthService) async throws {
    let session = try await auth.login(email: "eve@example.com", password: "open sesame")
    _ = session.user
}

func signUp(with auth: AuthService) async throws {
    let session = try await auth.register(email: "bob@example.com", password: "open sesame", name: "Bob")
    _ = session.user
}

func logOut(with auth: AuthService) async throws {
    try await auth.logout()
}

func check(_ auth: AuthService) async -> Bool {
    let hasSession = await auth.isAuthenticated()
    return hasSession
}
