import Foundation
import NevodSessions
import Testing

@testable import patterns

@Test func `Responses are kept across restarts until a logout`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("patterns-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let tokens = Tokens()
    try await tokens.tokens.storage.save(AuthTokens(accessToken: "a", refreshToken: "r"))
    let requests = Requests()
    func cached() -> CachedClient {
        CachedClient(
            baseURL: "https://api.example.com", tokenProvider: tokens, folder: folder,
            base: Server { _ in Server.Answer(json: "{\"number\": \(requests.next())}") })
    }
    let endpoint = Endpoint<Reply>.get("/sports", auth: .bearerToken)
    var client = cached()
    for _ in 0..<2 { #expect(try await client.client.send(endpoint).number == 1) }
    await client.cache.flush()
    client = cached()
    #expect(try await client.client.send(endpoint).number == 1)
    try await client.forget()
    #expect(try await client.client.send(endpoint).number == 2)
}

private struct Reply: Decodable, Sendable {
    let number: Int
}

private final class Requests: @unchecked Sendable {  // Guarded by the lock.
    private let lock = NSLock()
    private var count = 0

    func next() -> Int {
        lock.withLock {
            count += 1
            return count
        }
    }
}

private struct Tokens: TokenProvider {
    let tokens = SessionTokens(storage: InMemoryStorage())

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens { tokens }
}
