import Foundation
import NevodSessions
import Testing

@testable import shredmate

/// Requests that need no token carry none, whatever is stored.
@MainActor
struct LoginTests {
    @Test func `A login carries no bearer, although a session is stored`() async throws {
        let fixture = try await Fixture.loggedIn()
        // The stored token has expired. If a request asked for it, it would be renewed first.
        try await fixture.backend.expireTokens()
        try await fixture.module.authService.login(email: Backend.email, password: Backend.password)
        let seen = try await fixture.backend.seen()
        #expect(seen.requests.map(\.path) == ["/api/v1/auth/login"])
        #expect(seen.requests.map(\.bearer) == [nil])
    }

    @Test func `A wrong password is no end of a session`() async throws {
        let fixture = try await Fixture.loggedIn()
        await #expect(throws: NetworkError.unauthorized) {
            try await fixture.module.authService.login(email: Backend.email, password: "wrong horse")
        }
        let seen = try await fixture.backend.seen()
        #expect(seen.requests.map(\.path) == ["/api/v1/auth/login"])
        #expect(seen.refreshes == 0 && fixture.invalidations.value == 0)
        #expect(await fixture.module.authService.isAuthenticated())
    }

    @Test func `A logout ends the session at the server, and here in any case`() async throws {
        let fixture = try await Fixture.loggedIn()
        let (auth, tokens) = (fixture.module.authService, try #require(await fixture.module.tokenStorage.loadTokens()))
        try await auth.logout()
        #expect(await fixture.module.tokenStorage.loadTokens() == nil)
        await #expect(throws: NetworkError.unauthorized) {
            try await fixture.module.client.send(AuthAPI.refresh(refreshToken: tokens.refreshToken))
        }

        try await auth.login(email: Backend.email, password: Backend.password)
        try await fixture.backend.setNetwork(.closed)
        await #expect(throws: NetworkError.noConnection) { try await auth.logout() }
        #expect(await fixture.module.tokenStorage.loadTokens() == nil)
        #expect(fixture.invalidations.value == 0)
    }
}
