import Foundation
import NevodSessions
import Observation
import Testing

@testable import shredmate

/// The app's state against the backend. (The library's own tests cover every order of its actions.)
@MainActor
struct StateTests {
    @Test func `Login, profile and logout`() async throws {
        let fixture = try Fixture()
        let state = fixture.module.authState
        #expect(!state.isLoggedIn && state.user == nil && state.rider == nil && state.error == nil)

        await state.login(email: Backend.email, password: "wrong horse")
        #expect(state.error == .invalidCredentials)
        #expect(!state.isLoggedIn)

        await state.login(email: Backend.email, password: Backend.password)
        #expect(state.isLoggedIn && state.error == nil && !state.isLoading)
        #expect(state.user?.name == "Ada" && state.rider?.name == "Ada")
        #expect(await fixture.module.tokenStorage.loadUser() == state.user)

        await state.logout()
        #expect(!state.isLoggedIn && state.user == nil && state.rider == nil && state.error == nil)
        #expect(await fixture.module.tokenStorage.loadTokens() == nil)
        #expect(try await fixture.backend.seen().requests.last?.path == "/api/v1/auth/logout")
    }

    @Test func `Another user's profile is not shown`() async throws {
        let fixture = try Fixture()
        let state = fixture.module.authState
        await state.login(email: Backend.email, password: Backend.password)
        await state.logout()
        await state.register(email: "eve@example.com", password: "open sesame", name: "Eve")
        #expect(state.user?.name == "Eve" && state.rider?.name == "Eve")
    }

    @Test func `A start restores the session, also offline`() async throws {
        let fixture = try await Fixture.loggedIn()
        let module = fixture.module
        func newState() -> shredmate.AuthState {
            AuthState(authService: module.authService, riderService: module.riderService, tokenStorage: module.tokenStorage)
        }
        let online = newState()
        await online.restoreSession()
        #expect(online.user?.name == "Ada" && online.rider?.name == "Ada" && online.error == nil)

        try await fixture.backend.expireTokens()
        try await fixture.backend.setRefresh(.unavailable)
        let offline = newState()
        await offline.restoreSession()
        #expect(offline.isLoggedIn && offline.user?.name == "Ada" && offline.rider == nil)
        guard case .offline = offline.error else {
            Issue.record("\(offline.error as Any)")
            return
        }
        #expect(fixture.invalidations.value == 0)
    }

    @Test func `The foreground check renews when needed, and sends nothing otherwise`() async throws {
        let fixture = try Fixture()
        let state = fixture.module.authState
        // The token is already expired when it arrives.
        try await fixture.backend.setLife(seconds: 0)
        try await fixture.module.authService.login(email: Backend.email, password: Backend.password)
        try await fixture.backend.setLife(seconds: 900)
        try await fixture.backend.forget()

        #expect(await state.tokensNeedRefresh())
        #expect(await state.refreshIfNeeded())
        #expect(await state.tokensNeedRefresh() == false)
        #expect(state.isLoggedIn)
        var seen = try await fixture.backend.seen()
        #expect(seen.refreshes == 1)
        #expect(seen.requests.allSatisfy { $0.status == 200 })

        try await fixture.backend.forget()
        #expect(await state.refreshIfNeeded() == false)
        seen = try await fixture.backend.seen()
        #expect(seen.requests.isEmpty)
    }

    @Test func `A session that the server ends is not shown any more`() async throws {
        let fixture = try Fixture()
        let (state, riders) = (fixture.module.authState, fixture.module.riderService)
        await state.login(email: Backend.email, password: Backend.password)
        try await fixture.backend.revokeSessions()

        // The request isn't one of the state's own.
        await #expect(throws: NetworkError.unauthorized) { try await riders.fetchAllSports() }
        for await status in state.changes where !status.isLoggedIn { break }
        #expect(state.user == nil && state.rider == nil && state.error == .sessionExpired)
        #expect(await eventually { fixture.invalidations.value == 1 })
    }

    @Test func `An observer sees a login`() async throws {
        let fixture = try Fixture()
        let state = fixture.module.authState
        let changed = Counter()
        let isLoggedIn = withObservationTracking {
            state.isLoggedIn
        } onChange: {
            changed.count()
        }
        #expect(!isLoggedIn)
        await state.login(email: Backend.email, password: Backend.password)
        #expect(changed.value == 1 && state.isLoggedIn)
    }

    @Test func `A deleted account has no session`() async throws {
        let fixture = try Fixture()
        let state = fixture.module.authState
        await state.register(email: "bob@example.com", password: "open sesame", name: "Bob")
        try await state.deleteAccount()
        for await status in state.changes where !status.isLoggedIn { break }
        #expect(await fixture.module.tokenStorage.loadTokens() == nil)
        #expect(fixture.invalidations.value == 0)
        await state.login(email: "bob@example.com", password: "open sesame")
        #expect(state.error == .invalidCredentials)
    }
}
