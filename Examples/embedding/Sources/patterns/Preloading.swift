import NevodSessions

func start(_ client: JWTAuthClient, openWindow: () async -> Void) async throws -> AuthSession {
    client.preloadTokens()
    await openWindow()
    return try await client.loadSession()
}
