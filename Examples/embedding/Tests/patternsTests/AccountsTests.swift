import NevodSessions
import Testing

@testable import patterns

private struct Me: Decodable, Sendable {
    var name: String
}

@Test func `Each request goes out as the current account`() async throws {
    let server = Server { request in
        Server.Answer(json: #"{"name": "\#(request.headers["Authorization"] ?? "none")"}"#)
    }
    let accounts = UserAccounts<Member>(storage: InMemoryStorage())
    let clients = makeClients(of: accounts, url: "https://api.example.com", session: server)
    try await accounts.signIn("1", tokens: AuthTokens(accessToken: "ada", refreshToken: "a"), user: Member(name: "Ada"))
    try await accounts.signIn("2", tokens: AuthTokens(accessToken: "bob", refreshToken: "b"), user: Member(name: "Bob"))
    let me = Endpoint<Me>.get("/me", auth: .bearerToken)
    #expect(try await clients.send(me).name == "Bearer bob")
    try await accounts.switch(to: "1")
    #expect(try await clients.send(me).name == "Bearer ada")
    #expect(try await names(in: accounts) == ["Ada", "Bob"])
    try await accounts.storage(of: "2").clearAll()
    #expect(try await names(in: accounts) == ["Ada", "2 (logged out)"])
    try await accounts.remove("1")
    await #expect(throws: AccountError.self) { try await clients.send(me) }
}
