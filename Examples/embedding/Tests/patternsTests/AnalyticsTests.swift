import NevodSessions
import Testing

@testable import patterns

@Test func `Renewals and requests are counted, and exported`() async throws {
    let server = Server { request in
        Server.Answer(status: request.headers["Authorization"] == "Bearer new" ? 200 : 401)
    }
    let provider = RenewedTokens()
    try await provider.tokens.storage.save(AuthTokens(accessToken: "old", refreshToken: "r"))
    let measured = MeasuredClient(baseURL: "https://api.example.com", tokenProvider: provider, session: server)
    _ = try await measured.client.send(Endpoint<EmptyResponse>.get("/users/\(7)/posts", auth: .bearerToken))
    let page = measured.metricsPage.split(separator: "\n")
    #expect(page.contains(#"nevod_token_refreshes_total{outcome="succeeded"} 1"#))
    #expect(page.contains(#"nevod_token_requests_total{route="GET /users/{}/posts",outcome="2xx"} 1"#))
    #expect(page.contains(#"nevod_token_requests_total{route="GET /users/{}/posts",outcome="4xx"} 1"#))
    // Cancelled before its first export, it returns at once.
    let export = Task { await measured.export(to: "http://127.0.0.1:4318", session: server) }
    export.cancel()
    await export.value
}

private struct RenewedTokens: TokenProvider {
    let tokens = SessionTokens(storage: InMemoryStorage())

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
        AuthTokens(accessToken: "new", refreshToken: tokens.refreshToken)
    }
}
