import Foundation
import NevodHost
import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

struct SessionStorageTests {
    private typealias TokenStorage = SessionStorage<User>

    /// Storages in which an app may keep its session.
    enum Store: String, CaseIterable, Sendable {
        case memory, files, sqlite, sealedFiles, userData

        /// - Parameter folder: shared by instances that act like several processes, which isn't possible in memory.
        func open(_ folder: TemporaryFolder) async throws -> SessionStorage<User> {
            let key = KeyFile(path: "\(folder.path)/key")
            switch self {
            case .memory: return TokenStorage(storage: InMemoryStorage())
            case .files: return TokenStorage(storage: try FileStorage(directory: "\(folder.path)/files"))
            case .sqlite: return TokenStorage(storage: try await SQLiteStorage(path: "\(folder.path)/s.db", keys: [key]))
            case .sealedFiles:
                return TokenStorage(storage: try await SealingStorage(FileStorage(directory: "\(folder.path)/sealed"), key: key))
            case .userData:
                return TokenStorage(storage: UserDataStorage(application: "tests", environment: ["HOME": folder.path]))
            }
        }
    }

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func tokens(_ name: String) -> AuthTokens { AuthTokens(accessToken: name, refreshToken: "r-\(name)") }
    private func user(_ name: String) -> User { User(id: 1, email: name) }

    @Test(arguments: Store.allCases) func `A session is saved, read and cleared`(store: Store) async throws {
        let storage = try await store.open(folder)
        #expect(await storage.loadTokens() == nil)
        #expect(await storage.loadUser() == nil)
        try await storage.saveTokens(tokens("a"))
        try await storage.saveUser(user("a"))
        let session = try #require(try await storage.load())
        #expect(await storage.loadTokens() == tokens("a"))
        #expect(await storage.loadUser() == user("a"))
        // Storing the same session again keeps its user.
        #expect(try await storage.saveTokens(tokens("a")) == session.session)
        #expect(await storage.loadUser() == user("a"))
        // Another session has no user.
        #expect(try await storage.saveTokens(tokens("b")) != session.session)
        #expect(await storage.loadUser() == nil)
        try await storage.save(tokens("c"), user: user("c"))
        #expect(await storage.loadUser() == user("c"))
        if store != .memory {
            let other = try await store.open(folder)
            #expect(try await other.load()?.tokens == tokens("c"))
            try await other.clearAll()
        } else {
            try await storage.clearAll()
        }
        #expect(await storage.loadTokens() == nil)
        #expect(await storage.loadUser() == nil)
    }

    @Test func `A user that comes late is not saved for another session`() async throws {
        let storage = try await Store.memory.open(folder)
        await #expect(throws: NoSessionError()) { try await storage.saveUser(user("a")) }
        let first = try await storage.saveTokens(tokens("a"))
        let second = try await storage.saveTokens(tokens("b"))
        await #expect(throws: NoSessionError()) { try await storage.saveUser(user("a"), of: first) }
        #expect(await storage.loadUser() == nil)
        #expect(try await !storage.clear(first))
        try await storage.saveUser(user("b"), of: second)
        #expect(try await storage.clear(second))
        #expect(try await storage.load() == nil)
    }

    @Test(arguments: Store.allCases) func `Tokens and user are always of one session`(store: Store) async throws {
        let first = try await store.open(folder)
        let second = store == .memory ? first : try await store.open(folder)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, storage) in [first, second, first, second].enumerated() {
                group.addTask {
                    for number in 0..<10 {
                        let name = "\(index)-\(number)"
                        if number.isMultiple(of: 2) {
                            try await storage.save(tokens(name), user: user(name))
                        } else {
                            let session = try await storage.saveTokens(tokens(name))
                            do { try await storage.saveUser(user(name), of: session) } catch is NoSessionError {}
                        }
                        if number == 7 { try await storage.clearAll() }
                    }
                }
            }
            for storage in [first, second] {
                group.addTask {
                    for _ in 0..<40 {
                        guard let session = try await storage.load(), let user = session.user else { continue }
                        #expect(user.email == session.tokens.accessToken)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: [Store.files, .sqlite, .sealedFiles, .userData])
    func `Two storages, as in two processes, renew once`(store: Store) async throws {
        let backend = try Backend()
        func client(_ storage: SessionStorage<User>) -> AuthenticatingHTTPClient {
            AuthenticatingHTTPClient(
                baseURL: backend.url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: backend.url))
        }
        let (first, second) = (try await store.open(folder), try await store.open(folder))
        let clients = [client(first), client(second)]
        let login = try await clients[0].send(API.login("ada@example.com"))
        try await first.save(login.tokens, user: login.user)
        backend.expireAccessTokens()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let sports = try await clients[number % 2].send(API.sports())
                    #expect(sports.count == 2)
                }
            }
            try await group.waitForAll()
        }
        #expect(backend.requests(to: "/auth/refresh").count == 1)
        #expect(try await second.load()?.tokens.refreshToken == "refresh-2")
        #expect(await second.loadUser()?.email == "ada@example.com")
    }

    @Test(arguments: [Store.files, .sqlite])
    func `The end of a session by another process is noticed, once`(store: Store) async throws {
        let (here, elsewhere) = (try await store.open(folder), try await store.open(folder))
        var ends = here.tokens.ends.makeAsyncIterator()
        let first = try await here.save(tokens("a"), user: user("a"))
        try await elsewhere.clearAll()
        for _ in 0..<3 { #expect(await here.loadTokens() == nil) }
        let second = try await elsewhere.saveTokens(tokens("b"))
        for _ in 0..<3 { #expect(await here.loadTokens() == tokens("b")) }
        try await elsewhere.saveTokens(tokens("c"))
        #expect(await here.loadUser() == nil)
        let seen = [await ends.next(), await ends.next()]
        #expect(seen.map { $0?.session } == [first, second])
        #expect(seen.map { $0?.reason } == [.cleared, .replaced])
    }

    @Test func `Storages over one object share renewals and ends`() async throws {
        let base = InMemoryStorage()
        let (first, second) = (TokenStorage(storage: base), TokenStorage(storage: base))
        #expect(first.tokens.storage !== second.tokens.storage && first.tokens.values === second.tokens.values)
        #expect(TokenStorage(storage: base, key: "other").tokens.values !== first.tokens.values)
        var ends = second.tokens.ends.makeAsyncIterator()
        try await first.saveTokens(tokens("a"))
        try await first.clearAll()
        #expect(await ends.next()?.reason == .cleared)
    }

    @Test(arguments: [false, true]) func `A logout during the save of a login is not undone`(isCancelled: Bool) async throws {
        let (saving, maySave) = (Latch(), Latch())
        let holdsNext = Locked(false)
        let base = HeldStorage { operation in
            let holds = holdsNext.withLock { holdsNext in
                defer { if operation == .read { holdsNext = false } }
                return holdsNext && operation == .read
            }
            guard holds else { return }
            saving.set()
            await maySave.wait()
        }
        let session = SessionTokens(storage: base)
        let ticket = try await session.beginLogin()
        // After checking that the login is the current one.
        holdsNext.withLock { $0 = true }
        let new = tokens("a")
        let login = Task { try await session.save(new, of: ticket) }
        await saving.wait()
        let hasLoggedOut = Locked(false)
        let logout = Task {
            defer { hasLoggedOut.withLock { $0 = true } }
            try await session.storage.clear()
        }
        #expect(await eventually { session.values.waitingCount == 1 || hasLoggedOut.withLock { $0 } })
        if isCancelled { logout.cancel() }
        maySave.set()
        #expect(try await login.value)
        try await logout.value
        #expect(try await base.data(for: .session) == nil)
        #expect(try await session.storage.load() == nil)
    }

    @Test func `A value that is no session is an error, until a login or a logout`() async throws {
        let base = InMemoryStorage()
        let errors = Collected<String>()
        let storage = TokenStorage(storage: base, onError: { errors.append("\($0)") })
        for text in ["", "token", "{}", #"{"session": "x", "tokens": "??"}"#] {
            base.set(Array(text.utf8), for: .session)
            let error = await #expect(throws: StorageError.self) { try await storage.load() }
            #expect(error?.code == .damaged)
            #expect(await storage.loadTokens() == nil)
            #expect(await storage.loadUser() == nil)
            await #expect(throws: (any Error).self) { try await storage.saveUser(user("a")) }
            try await storage.save(tokens("a"), user: user("a"))
            #expect(await storage.loadUser() == user("a"))
            base.set(Array(text.utf8), for: .session)
            try await storage.clearAll()
            #expect(base.data(for: .session) == nil)
        }
        #expect(errors.values.count == 8 && errors.values.allSatisfy { $0.contains("nevod.session") })
    }

    @Test func `A user of an earlier version of the app is fetched again, and the session stays`() async throws {
        struct Old: Codable { var name: String }
        let base = InMemoryStorage()
        try await SessionStorage<Old>(storage: base).save(tokens("a"), user: Old(name: "Ada"))
        let errors = Collected<String>()
        let storage = TokenStorage(storage: base, onError: { errors.append("\($0)") })
        let session = try #require(try await storage.load())
        #expect(session.tokens == tokens("a") && session.user == nil && errors.values.count == 1)
    }

    @Test func `The user's data folder holds a sealed store, and its key another one`() async throws {
        let environment = ["XDG_DATA_HOME": "\(folder.path)/data", "XDG_CONFIG_HOME": "relative", "HOME": folder.path]
        let storage = TokenStorage(storage: UserDataStorage(application: "app", environment: environment))
        try await storage.save(tokens("secret-access"), user: user("secret-user"))
        let stored = try contents(of: "\(folder.path)/data/app/sessions.db")
        #expect(!stored.contains(Array("secret".utf8)))
        #expect(try contents(of: "\(folder.path)/.config/app/store.key").count > 60)
        for (name, environment) in [("app", [:]), ("../app", environment), ("", environment)] {
            let storage = TokenStorage(storage: UserDataStorage(application: name, environment: environment))
            await #expect(throws: StorageError.self) { try await storage.load() }
        }
    }

    @Test func `Tokens print nothing, and keep their expiry`() async throws {
        let jwt = "eyJhbGciOiJub25lIn0." + Data(#"{"sub": "1", "exp": 2209086245}"#.utf8).base64EncodedString() + "."
        #expect(AuthTokens(accessToken: jwt, refreshToken: "r").expiresAt == Date(timeIntervalSince1970: 2_209_086_245))
        let given = AuthTokens(accessToken: jwt, refreshToken: "r", expiresAt: Date(timeIntervalSince1970: 1.75))
        #expect(try AuthTokens.decode(from: given.encode()) == given)
        #expect(given.expiresAt == Date(timeIntervalSince1970: 1))
        for text in ["a", "a.b.c", "..", "a.e30.c", "a.eyJleHAiOi0xfQ.c", "a.eyJleHAiOjFlOTl9.c"] {
            #expect(AuthTokens(accessToken: text, refreshToken: "r").expiresAt == nil)
        }
        #expect("\(given) \(String(reflecting: given))".contains(jwt) == false)
        #expect("\(TokenStorage(storage: InMemoryStorage()))".contains("secret") == false)
    }
}
