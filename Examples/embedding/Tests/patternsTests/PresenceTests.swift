import Foundation
import NevodSessions
import Synchronization
import Testing

@testable import patterns

private let server = Server { request in
    Server.Answer(status: request.headers["Authorization"] == "Bearer access" ? 200 : 401)
}

private struct StoredTokens: TokenProvider {
    let tokens = SessionTokens(storage: InMemoryStorage())

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens { tokens }
}

private final class CountingCheck: PresenceCheck {
    let count = Atomic(0)

    func confirm(reason: String) async throws(PresenceError) {
        guard count.add(1, ordering: .relaxed).newValue > 1 else {
            throw PresenceError(.refused, "the test", problem: "says no")
        }
    }
}

@Test func `A request asks the person, and later ones rely on the answer until the app is locked`() async throws {
    let (tokens, check) = (StoredTokens(), CountingCheck())
    try await tokens.tokens.storage.save(AuthTokens(accessToken: "access", refreshToken: "refresh"))
    let guarded = GuardedClient(
        baseURL: "https://api.example.com", tokenProvider: tokens, check: check, session: server)
    let endpoint = Endpoint<EmptyResponse>.get("/sports", auth: .bearerToken)
    do {
        _ = try await guarded.client.send(endpoint)
        Issue.record("sent without a presence")
    } catch NetworkError.interceptor(_, let error) {
        #expect((error as? PresenceError)?.code == .refused)
    }
    for _ in 0..<3 { _ = try await guarded.client.send(endpoint) }
    #expect(check.count.load(ordering: .relaxed) == 2)
    guarded.presence.forget()
    _ = try await guarded.client.send(Endpoint<EmptyResponse>.post("/auth/logout", auth: .bearerToken))
    #expect(check.count.load(ordering: .relaxed) == 2)
    _ = try await guarded.client.send(endpoint)
    #expect(check.count.load(ordering: .relaxed) == 3)
}

/// PAM itself, with the test's own service.
@Test func `The service decides`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "nevod-presence-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let check = accountCheck(folder: folder.path, user: "ali") { _, _ in nil }
    for (module, isConfirmed) in [("pam_permit.so", true), ("pam_deny.so", false)] {
        try "auth required \(module)\naccount required pam_permit.so\n"
            .write(to: folder.appending(path: "sports"), atomically: true, encoding: .utf8)
        if isConfirmed {
            try await check.confirm(reason: "the test")
        } else {
            let error = await #expect(throws: PresenceError.self) { try await check.confirm(reason: "the test") }
            #expect(error?.code == .refused)
        }
    }
}
