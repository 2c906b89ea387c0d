import NevodSessions
import Testing

@testable import patterns

@Test func `A session of a program's own takes any client`() async throws {
    let client = AuthenticatingHTTPClient(
        baseURL: "http://127.0.0.1:1", tokenProvider: NoTokens(), timeout: .seconds(10), retryPolicy: .none,
        session: ConnectionPool.shared)
    // Nothing listens on port 1.
    await #expect(throws: NetworkError.self) { try await client.send(Endpoint<EmptyResponse>.get("/")) }
}

private struct NoTokens: TokenProvider {
    let tokens = SessionTokens(storage: InMemoryStorage())

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens { tokens }
}
