import Foundation
import NevodHost
import NevodSessions
import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

/// What a process shows of another process's logins, logouts and renewals. Two storage objects over one store act like two
/// processes.
struct SharedSessionTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    enum Store: CaseIterable, Sendable {
        case files, sqlite, sealedFiles

        func open(_ folder: TemporaryFolder) async throws -> SessionStorage<User> {
            let key = KeyFile(path: "\(folder.path)/key")
            return switch self {
            case .files: SessionStorage(storage: try FileStorage(directory: "\(folder.path)/files"))
            case .sqlite: SessionStorage(storage: try await SQLiteStorage(path: "\(folder.path)/s.db", keys: [key]))
            case .sealedFiles:
                SessionStorage(storage: try await SealingStorage(FileStorage(directory: "\(folder.path)/sealed"), key: key))
            }
        }
    }

    private func tokens(_ name: String) -> AuthTokens { AuthTokens(accessToken: name, refreshToken: "r-\(name)") }

    @Test(arguments: Store.allCases) func `Tokens, events and ends show what another process does`(store: Store) async throws {
        let (own, other) = (try await store.open(folder), try await store.open(folder))
        #expect(await own.loadTokens() == nil)
        let (changes, ends, events) = (Collected<String>(), Collected<SessionEnd.Reason>(), Collected<String>())
        let (tokenChanges, tokenEvents, sessionEnds) = (own.tokens.storage.changes, own.tokens.storage.events, own.tokens.ends)
        let tasks = [
            Task { for await tokens in tokenChanges { changes.append(tokens?.accessToken ?? "-") } },
            Task { for await event in tokenEvents { events.append("\(event)") } },
            Task { for await end in sessionEnds { ends.append(end.reason) } },
        ]
        defer { for task in tasks { task.cancel() } }
        try await other.saveTokens(tokens("a"))
        #expect(await eventually { changes.values.last == "a" })
        // A renewal.
        let version = try await other.tokens.storage.current().version
        #expect(try await other.tokens.storage.save(tokens("b"), replacing: version))
        #expect(await eventually { changes.values.last == "b" })
        #expect(ends.values.isEmpty)
        // Another login.
        try await other.saveTokens(tokens("c"))
        #expect(await eventually { changes.values.last == "c" && ends.values == [.replaced] })
        try await other.clearAll()
        #expect(await eventually { changes.values.last == "-" && ends.values == [.replaced, .cleared] })
        #expect(await eventually { events.values.last == "the token was cleared" })
    }

    @MainActor @Test(arguments: Store.allCases) func `The state shows another process's login and logout`(store: Store)
        async throws
    {
        let backend = try Backend()
        let (own, other) = (try await store.open(folder), try await store.open(folder))
        let client = AuthenticatingHTTPClient(
            baseURL: backend.url, tokenProvider: DefaultTokenProvider(tokenStorage: own, baseURL: backend.url))
        let state = AuthState(service: Service(client: client), tokenStorage: own)
        await state.restoreSession()
        #expect(!state.isLoggedIn)
        for name in ["ada@example.com", "bob@example.com"] {
            let response = try await client.send(API.login(name))
            try await other.save(response.tokens, user: response.user)
            #expect(await soon { state.user?.email == name })
            #expect(state.isLoggedIn)
            try await other.clearAll()
            #expect(await soon { !state.isLoggedIn && state.user == nil })
        }
        #expect(state.error == nil)
    }

    @MainActor @Test func `A session that begins before the storage reports changes is shown`() async throws {
        let (backend, reports) = (try Backend(), Latch())
        let base = InMemoryStorage()
        let own = SessionStorage<User>(storage: HeldStorage(base) { if case .subscribe = $0 { await reports.wait() } })
        let other = SessionStorage<User>(storage: base)
        let client = AuthenticatingHTTPClient(
            baseURL: backend.url, tokenProvider: DefaultTokenProvider(tokenStorage: own, baseURL: backend.url))
        let state = AuthState(service: Service(client: client), tokenStorage: own)
        await state.restoreSession()
        let response = try await client.send(API.login("ada@example.com"))
        try await other.save(response.tokens, user: response.user)
        #expect(!state.isLoggedIn)
        reports.set()
        #expect(await soon { state.user?.email == "ada@example.com" })
    }

    @MainActor @Test func `A session that begins during a login that fails is shown`() async throws {
        let backend = try Backend()
        let base = InMemoryStorage()
        let (own, other) = (SessionStorage<User>(storage: HeldStorage(base) { _ in }), SessionStorage<User>(storage: base))
        let client = AuthenticatingHTTPClient(
            baseURL: backend.url, tokenProvider: DefaultTokenProvider(tokenStorage: own, baseURL: backend.url))
        let state = AuthState(service: Service(client: client), tokenStorage: own)
        await state.restoreSession()
        let response = try await client.send(API.login("ada@example.com"))
        await state.login { () async throws -> AuthResponse in
            try await other.save(response.tokens, user: response.user)
            // This process reads it during the login, and nothing reports it afterwards.
            #expect(await own.loadTokens() == response.tokens)
            for _ in 0..<1000 { await MainActor.run {} }
            throw URLError(.timedOut)
        }
        #expect(await soon { state.user?.email == "ada@example.com" })
    }

    @MainActor private func soon(_ condition: @MainActor () -> Bool) async -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while !condition() {
            guard ContinuousClock.now < end else { return false }
            await Task.yield()
        }
        return true
    }

    private struct Service: AuthServicing {
        let client: AuthenticatingHTTPClient

        func login(email: String, password: String) async throws -> AuthResponse {
            try await client.send(API.login(email, password))
        }
        func register(email: String, password: String, name: String) async throws -> AuthResponse {
            try await client.send(API.login(email, password))
        }
        func logout() async throws {}
        func fetchUser() async throws -> User { try await client.send(API.me()) }
    }

    @Test func `A store in the user's folder is not made for one that only observes, and reports once it is open`() async throws {
        func open() throws -> SessionStorage<User> {
            SessionStorage(storage: try UserDataStorage.test(folder.path))
        }
        let own = try open()
        let ends = Collected<SessionEnd.Reason>()
        let sessionEnds = own.tokens.ends
        let task = Task { for await end in sessionEnds { ends.append(end.reason) } }
        defer { task.cancel() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        try await own.saveTokens(tokens("a"))
        try await open().clearAll()
        #expect(await eventually { ends.values == [.cleared] })
    }
}
