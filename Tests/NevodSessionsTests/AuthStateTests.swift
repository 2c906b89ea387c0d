import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Observation
import Testing

@testable import NevodSessions

/// The state over real requests.
@MainActor
struct AuthStateTests {
    private struct Service: AuthServicing {
        let client: any APIClienting

        func login(email: String, password: String) async throws -> AuthResponse {
            try await client.send(API.login(email, password))
        }
        func register(email: String, password: String, name: String) async throws -> AuthResponse {
            try await client.send(
                .post("/auth/register", body: ["email": email, "password": password, "name": name]))
        }
        func logout() async throws { _ = try await client.send(API.logout()) }
        func fetchUser() async throws -> User { try await client.send(API.me()) }
    }

    private let backend: Backend
    private let app: App
    private let state: AuthState<User>

    init() throws {
        backend = try Backend()
        app = App(backend.url)
        state = AuthState(service: Service(client: app.client), tokenStorage: app.storage)
    }

    /// Waits until a condition holds on the main actor. Returns false after 60 seconds, which no healthy machine needs.
    private func soon(_ condition: @MainActor () async -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while await !condition() {
            guard ContinuousClock.now < end else { return false }
            await Task.yield()
        }
        return true
    }

    @Test func `A login, a logout, and a wrong password`() async throws {
        #expect(!state.isLoggedIn && state.user == nil && !state.isLoading && state.error == nil)
        await state.login(email: "ada@example.com", password: "wrong")
        #expect(!state.isLoggedIn && state.error == .invalidCredentials && !state.isLoading)
        await state.login(email: "ada@example.com", password: "secret")
        #expect(state.isLoggedIn && state.user?.email == "ada@example.com" && state.error == nil && !state.isLoading)
        #expect(try await app.storage.load()?.user == state.user)
        await state.logout()
        #expect(!state.isLoggedIn && state.user == nil && state.error == nil && !state.isLoading)
        #expect(try await app.storage.load() == nil)
        #expect(backend.requests(to: "/auth/logout").map(\.bearer) == ["access-1"])
        await state.register(email: "bob@example.com", password: "secret", name: "Bob")
        #expect(state.user?.email == "bob@example.com")
    }

    @Test func `A session is restored, with or without a network`() async throws {
        await state.login(email: "ada@example.com", password: "secret")
        backend.expireAccessTokens()
        let second = AuthState(service: Service(client: app.client), tokenStorage: app.storage)
        await second.restoreSession()
        #expect(second.isLoggedIn && second.user?.email == "ada@example.com" && second.error == nil)
        #expect(backend.requests(to: "/auth/refresh").count == 1)
        backend.expireAccessTokens()
        backend.setRefresh(.offline)
        let third = AuthState(service: Service(client: app.client), tokenStorage: app.storage)
        await third.restoreSession()
        #expect(third.isLoggedIn && third.user?.email == "ada@example.com")
        guard case .offline = third.error else { throw try #require(third.error) }
        backend.setRefresh(.refused)
        await third.restoreSession()
        #expect(!third.isLoggedIn && third.user == nil && third.error == .sessionExpired && !third.isLoading)
        #expect(try await app.storage.load() == nil)
        // The others also learn of the end.
        #expect(await soon { !second.isLoggedIn && !state.isLoggedIn })
        #expect(state.error == .sessionExpired)
        let fourth = AuthState(service: Service(client: app.client), tokenStorage: app.storage)
        await fourth.restoreSession()
        #expect(!fourth.isLoggedIn && fourth.error == nil)
    }

    @Test func `Only the request that meets the refusal has to fail`() async throws {
        await state.login(email: "ada@example.com", password: "secret")
        backend.expireAccessTokens()
        backend.setRefresh(.refused)
        await #expect(throws: NetworkError.unauthorized) { try await app.client.send(API.sports()) }
        #expect(await soon { !state.isLoggedIn })
        #expect(state.error == .sessionExpired)
    }

    @Test func `The foreground check renews when needed, and not otherwise`() async throws {
        #expect(await !state.tokensNeedRefresh())
        await state.login(email: "ada@example.com", password: "secret")
        let requests = backend.log.count
        #expect(await !state.tokensNeedRefresh())
        #expect(await !state.refreshIfNeeded())
        #expect(backend.log.count == requests)
        // An hour is left.
        backend.setLifetime(3600)
        await state.login(email: "ada@example.com", password: "secret")
        #expect(await !state.refreshIfNeeded())
        #expect(backend.requests(to: "/auth/refresh").isEmpty)
        // The clock has passed the expiry.
        backend.setLifetime(-1)
        await state.login(email: "ada@example.com", password: "secret")
        backend.setLifetime(3600)
        #expect(await state.tokensNeedRefresh())
        #expect(await state.refreshIfNeeded())
        #expect(backend.requests(to: "/auth/refresh").count == 1)
        #expect(try await app.storage.load()?.tokens.accessToken == "access-4")
        #expect(await !state.tokensNeedRefresh())
        let after = backend.log.count
        #expect(await !state.refreshIfNeeded())
        #expect(backend.log.count == after)
        #expect(state.isLoggedIn && state.user?.email == "ada@example.com" && state.error == nil)
        // Without a network, it renews nothing, and the user stays.
        backend.setLifetime(-1)
        await state.login(email: "ada@example.com", password: "secret")
        backend.setRefresh(.offline)
        #expect(await !state.refreshIfNeeded())
        #expect(state.isLoggedIn && state.user?.email == "ada@example.com" && state.error == nil)
        #expect(try await app.storage.load()?.tokens.accessToken == "access-5")
    }

    @Test func `Another part of the app may log in or out`() async throws {
        await state.login(email: "ada@example.com", password: "secret")
        try await app.logIn("bob@example.com")
        #expect(await soon { state.user?.email == "bob@example.com" && !state.isLoading })
        try await app.storage.clearAll()
        #expect(await soon { !state.isLoggedIn })
        #expect(state.error == nil)
    }

    /// Saves the session itself, like services without a state.
    private struct SavingService: AuthServicing {
        let service: Service
        let storage: SessionStorage<User>
        let saved = Latch()
        let goOn = Latch()

        func login(email: String, password: String) async throws -> AuthResponse {
            let response = try await service.login(email: email, password: password)
            try await storage.save(response.tokens, user: response.user)
            saved.set()
            await goOn.wait()
            return response
        }
        func register(email: String, password: String, name: String) async throws -> AuthResponse {
            try await login(email: email, password: password)
        }
        func logout() async throws { try await storage.clearAll() }
        func fetchUser() async throws -> User { try await service.fetchUser() }
    }

    @Test(arguments: [false, true]) func `A service may save the session itself`(logsOut: Bool) async throws {
        let service = SavingService(service: Service(client: app.client), storage: app.storage)
        let state = AuthState(service: service, tokenStorage: app.storage)
        let login = Task { await state.login(email: "ada@example.com", password: "secret") }
        await service.saved.wait()
        if logsOut { await state.logout() }
        service.goOn.set()
        await login.value
        #expect(state.isLoggedIn == !logsOut && !state.isLoading && state.error == nil)
        #expect(try await app.storage.load()?.user?.email == (logsOut ? nil : "ada@example.com"))
        await state.logout()
        #expect(try await app.storage.load() == nil && !state.isLoggedIn)
    }

    @Test func `A UI observes each change`() async throws {
        let (changed, values) = (Latch(), Collected<Bool>())
        withObservationTracking {
            values.append(state.isLoggedIn)
        } onChange: {
            changed.set()
        }
        let (changes, seen) = (state.changes, Collected<AuthStatus<User>>())
        let reader = Task {
            for await status in changes {
                seen.append(status)
                if status.isLoggedIn, !status.isLoading { break }
            }
        }
        await state.login(email: "ada@example.com", password: "secret")
        await changed.wait()
        await reader.value
        let last = try #require(seen.values.last)
        #expect(last.isLoggedIn && last.user?.email == "ada@example.com" && values.values == [false])
        #expect(seen.values.allSatisfy { $0.isLoggedIn == ($0.user != nil) })
    }

    @Test func `The changes end with the state`() async throws {
        var state: AuthState<User>? = AuthState(service: Service(client: app.client), tokenStorage: app.storage)
        let changes = try #require(state?.changes)
        state = nil
        var count = 0
        for await _ in changes { count += 1 }
        #expect(count == 1)
    }
}
