import Foundation
import NevodSessions

@testable import shredmate

/// The module as an app sets it up, with its own backend and store.
@MainActor
struct Fixture {
    let backend: Backend
    let module: AuthModule
    /// How often the client has reported the end of a session.
    let invalidations = Counter()

    init() throws {
        backend = try Backend()
        module = AuthModule(
            baseURL: backend.url, tokenStorage: SessionStorage(storage: InMemoryStorage()),
            onSessionInvalidated: invalidations.count)
    }

    /// A fixture with a logged-in user, and a backend that has forgotten the login's requests.
    static func loggedIn() async throws -> Fixture {
        let fixture = try Fixture()
        try await fixture.module.authService.login(email: Backend.email, password: Backend.password)
        try await fixture.backend.forget()
        return fixture
    }

    /// Runs requests at once.
    nonisolated static func atOnce<Value: Sendable>(
        _ count: Int, _ body: @escaping @Sendable () async throws -> Value
    ) async -> [Result<Value, any Error>] {
        await withTaskGroup(of: Result<Value, any Error>.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do { return .success(try await body()) } catch { return .failure(error) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
