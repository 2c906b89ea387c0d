import Foundation
import NevodHost
import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

struct UserAccountsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func tokens(_ name: String) -> AuthTokens { AuthTokens(accessToken: name, refreshToken: "r-\(name)") }
    private func user(_ name: String) -> User { User(id: 1, email: name) }

    enum Store: CaseIterable, Sendable {
        case memory, files, sqlite, sealedFiles

        func open(_ folder: TemporaryFolder) async throws -> any KeyValueStorage {
            let key = KeyFile(path: "\(folder.path)/key")
            return switch self {
            case .memory: InMemoryStorage()
            case .files: try FileStorage(directory: "\(folder.path)/files")
            case .sqlite: try await SQLiteStorage(path: "\(folder.path)/s.db", keys: [key])
            case .sealedFiles: try await SealingStorage(FileStorage(directory: "\(folder.path)/sealed"), key: key)
            }
        }
    }

    private func accounts(_ storage: any KeyValueStorage) -> UserAccounts<User> { UserAccounts(storage: storage) }

    @Test(arguments: Store.allCases) func `Accounts stand side by side, and one is the current one`(store: Store) async throws {
        let accounts = accounts(try await store.open(folder))
        #expect(try await accounts.list().accounts.isEmpty)
        #expect(try await accounts.current() == nil)
        let ada = try await accounts.signIn("ada", tokens: tokens("a"), user: user("ada"))
        let bob = try await accounts.signIn("bob", tokens: tokens("b"), user: user("bob"), isCurrent: false)
        #expect(try await accounts.list().accounts == [ada, bob])
        #expect(try await accounts.current() == ada)
        #expect(try await accounts.switch(to: "bob") == bob)
        #expect(try await accounts.current() == bob)
        #expect(try await accounts.storage(of: "ada").load()?.user == user("ada"))
        #expect(try await accounts.storage(of: bob).load()?.tokens == tokens("b"))
        // A new login of the same account.
        #expect(try await accounts.signIn("ada", tokens: tokens("c"), user: user("ada")) == ada)
        #expect(try await accounts.storage(of: ada).load()?.tokens == tokens("c"))
        #expect(try await accounts.list().accounts == [ada, bob])
        // The account outlives its session.
        try await accounts.storage(of: ada).clearAll()
        #expect(try await accounts.list()["ada"] == ada)
        #expect(try await accounts.storage(of: ada).load() == nil)
        #expect(try await accounts.remove("ada"))
        #expect(try await !accounts.remove("ada"))
        #expect(try await accounts.current() == nil)
        await #expect(throws: AccountError.self) { try await accounts.switch(to: "ada") }
        await #expect(throws: AccountError.self) { try await accounts.storage(of: "ada") }
        #expect(try await accounts.list().accounts == [bob])
        try await accounts.removeAll()
        #expect(try await accounts.list().accounts.isEmpty)
        #expect(try await accounts.storage(of: bob).load() == nil)
    }

    @Test func `Another process finds the accounts, and the keys tell nothing of them`() async throws {
        let path = "\(folder.path)/files"
        let first = UserAccounts<User>(storage: try FileStorage(directory: path))
        try await first.signIn("ada@example.com", tokens: tokens("a"), user: user("ada"))
        try await first.signIn("bob@example.com", tokens: tokens("b"), user: user("bob"), isCurrent: false)
        let second = UserAccounts<User>(storage: try FileStorage(directory: path))
        #expect(try await second.list().accounts.map(\.id) == ["ada@example.com", "bob@example.com"])
        #expect(try await second.current()?.id == "ada@example.com")
        #expect(try await second.storage(of: "bob@example.com").load()?.user == user("bob"))
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }
        #expect(names.count == 3)
        #expect(names.allSatisfy { !$0.contains("example") && $0.hasPrefix("nevod.accounts") })
        try await second.removeAll()
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") } == ["nevod.accounts"])
        #expect(try await first.list().accounts.isEmpty)
    }

    @Test func `An account that is removed takes no session, and one that is added again has another`() async throws {
        let accounts = UserAccounts<User>(storage: InMemoryStorage())
        let old = try await accounts.signIn("ada", tokens: tokens("a"), user: user("ada"))
        let storage = accounts.storage(of: old)
        let version = try await storage.tokens.storage.current().version
        try await accounts.remove("ada")
        // A login that finishes late, and a renewal.
        let error = await #expect(throws: AccountError.self) { try await storage.save(tokens("late"), user: user("ada")) }
        #expect(error?.code == .removed)
        #expect(try await !storage.tokens.storage.save(tokens("renewed"), replacing: version))
        #expect(try await storage.load() == nil)
        let new = try await accounts.signIn("ada", tokens: tokens("b"), user: user("ada"))
        #expect(new != old && new.id == old.id)
        #expect(try await storage.load() == nil)
        await #expect(throws: AccountError.self) { try await storage.saveTokens(tokens("late")) }
        #expect(try await accounts.storage(of: new).load()?.tokens == tokens("b"))
    }

    @Test func `Identifiers are compared by their bytes`() async throws {
        // The ångström sign and the letter, which look the same and are equal as strings.
        let (sign, letter) = ("\u{212B}", "\u{C5}")
        let accounts = UserAccounts<User>(storage: InMemoryStorage())
        let first = try await accounts.signIn(sign, tokens: tokens("a"))
        #expect(try await accounts.list()[letter] == nil)
        await #expect(throws: AccountError.self) { try await accounts.switch(to: letter) }
        #expect(try await !accounts.remove(letter))
        let second = try await accounts.signIn(letter, tokens: tokens("b"))
        #expect(second != first && Set([first, second]).count == 2)
        #expect(try await accounts.list().accounts == [first, second])
        #expect(try await accounts.storage(of: sign).load()?.tokens == tokens("a"))
        #expect(try await accounts.storage(of: letter).load()?.tokens == tokens("b"))
    }

    @Test func `Limits are errors that say so, and change nothing`() async throws {
        let storage = InMemoryStorage()
        let accounts = UserAccounts<User>(storage: storage)
        for id in ["", String(repeating: "é", count: 257)] {
            let error = await #expect(throws: AccountError.self) { try await accounts.signIn(id, tokens: tokens("a")) }
            #expect(error?.code == .identifier)
        }
        // A thousand sign-ins would write the list a thousand times.
        let entries = (0..<999).map { #"{"id":"\#($0)","slot":"nevod.accounts.\#($0)"}"# }
        try await storage.set(#"{"format":1,"entries":[\#(entries.joined(separator: ","))],"loose":[]}"#, for: .accounts)
        try await accounts.signIn("999", tokens: tokens("999"))
        let list = try await accounts.list()
        #expect(list.accounts.count == 1000)
        let error = await #expect(throws: AccountError.self) { try await accounts.signIn("one more", tokens: tokens("a")) }
        #expect(error?.code == .tooMany && "\(error as Any)".contains("1000"))
        #expect(try await accounts.list() == list)
        try await accounts.signIn("999", tokens: tokens("again"))
        try await accounts.remove("0")
        try await accounts.signIn("one more", tokens: tokens("a"))
        #expect(try await accounts.current()?.id == "one more")
    }

    @Test func `A value that is no list is an error, and is not overwritten`() async throws {
        let storage = InMemoryStorage()
        for value in ["{}", "[1]", #"{"format":2,"entries":[],"loose":[]}"#] {
            try await storage.set(value, for: .accounts)
            let accounts = UserAccounts<User>(storage: storage)
            await #expect(throws: StorageError.self) { try await accounts.list() }
            await #expect(throws: StorageError.self) { try await accounts.signIn("ada", tokens: tokens("a")) }
            #expect(try await storage.string(for: .accounts) == value)
        }
    }

    @Test(arguments: [false, true]) func `A crash at any write leaves no session that isn't listed`(isAfter: Bool) async throws {
        func check(_ disk: Disk) async throws -> UserAccountList {
            // The next process.
            let accounts = UserAccounts<User>(storage: CrashingStorage(disk))
            let list = try await accounts.list()
            #expect(disk.contents.keys.filter { $0 != .accounts }.count <= list.accounts.count)
            var sessions = 0
            for account in list.accounts where try await accounts.storage(of: account).load() != nil { sessions += 1 }
            #expect(disk.contents.count - 1 == sessions)
            return list
        }
        let actions: [@Sendable (UserAccounts<User>) async throws -> Void] = [
            { try await $0.signIn("bob", tokens: AuthTokens(accessToken: "b", refreshToken: "b")) },
            { try await $0.signIn("ada", tokens: AuthTokens(accessToken: "c", refreshToken: "c")) },
            { _ = try await $0.remove("ada") }, { try await $0.removeAll() },
        ]
        for (index, action) in actions.enumerated() {
            var crashes = 0
            for number in 1... {
                let disk = Disk()
                let before = UserAccounts<User>(storage: CrashingStorage(disk))
                try await before.signIn("ada", tokens: tokens("a"))
                try await before.signIn("eve", tokens: tokens("e"))
                let storage = CrashingStorage(disk, crashAt: number, isAfter: isAfter)
                let result = await Result { try await action(UserAccounts(storage: storage)) }
                guard storage.hasCrashed else {
                    _ = try result.get()
                    break
                }
                crashes += 1
                let list = try await check(disk)
                #expect(list.accounts.count == (index == 3 ? (list["ada"] == nil ? 0 : 2) : list.accounts.count))
                if index < 2 { #expect(list["ada"] != nil && list["eve"] != nil) }
                // The same again.
                try await action(UserAccounts(storage: CrashingStorage(disk)))
                let after = try await check(disk)
                #expect(after.accounts.map(\.id) == [["ada", "eve", "bob"], ["ada", "eve"], ["eve"], []][index])
            }
            #expect(crashes >= (index == 1 ? 2 : 3), "action \(index)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func `Processes that add and remove at once leave a list that agrees with the sessions`()
        async throws
    {
        let rounds = Rounds("ACCOUNTS_SHARED", default: 25)
        let path = "\(folder.path)/files"
        let processes = try (0..<3).map { _ in UserAccounts<User>(storage: try FileStorage(directory: path)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, accounts) in processes.enumerated() {
                group.addTask {
                    var random = SeededRandom(seed: rounds.seed &+ UInt64(index))
                    for number in 0..<rounds.count {
                        let id = "user-\(random.next(upperBound: UInt64(4)))"
                        switch random.next(upperBound: UInt64(4)) {
                        case 0: _ = try await accounts.remove(id)
                        case 1: _ = try? await accounts.switch(to: id)
                        case 2: _ = try? await accounts.storage(of: id).saveTokens(tokens("late-\(index)-\(number)"))
                        default: try await accounts.signIn(id, tokens: tokens("\(index)-\(number)"))
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let accounts = UserAccounts<User>(storage: try FileStorage(directory: path))
        let list = try await accounts.list()
        for other in processes { #expect(try await other.list() == list) }
        var sessions = 0
        for account in list.accounts where try await accounts.storage(of: account).load() != nil { sessions += 1 }
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { !$0.hasPrefix(".") }
        #expect(names.count == sessions + 1, "seed \(rounds.seed)")
        #expect(Set(list.accounts.map(\.id)).count == list.accounts.count)
    }

    @Test(arguments: [Store.memory, .files, .sqlite, .sealedFiles]) func `Changes of the list arrive, the last one last`(
        store: Store
    ) async throws {
        let storage = try await store.open(folder)
        let accounts = accounts(storage)
        // Another process, if the storage allows one.
        let other = self.accounts(store == .memory ? storage : try await store.open(folder))
        let seen = Collected<UserAccountList>()
        let reading = Task { for await list in accounts.changes { seen.append(list) } }
        defer { reading.cancel() }
        #expect(await eventually { seen.values.count == 1 })
        try await other.signIn("ada", tokens: tokens("a"))
        #expect(await eventually { seen.values.last?["ada"] != nil })
        try await accounts.signIn("bob", tokens: tokens("b"))
        #expect(await eventually { seen.values.last?.current?.id == "bob" })
        try await other.switch(to: "ada")
        #expect(await eventually { seen.values.last?.current?.id == "ada" })
        try await other.removeAll()
        #expect(await eventually { seen.values.last?.accounts.isEmpty == true })
    }

    @Test func `No change is missed once changes are observed`() async throws {
        func observed(_ observe: @escaping @Sendable (HeldStorage, Collected<String>) async -> Void) async -> [String] {
            let (begun, mayEnd, events) = (Latch(), Latch(), Collected<String>())
            let storage = HeldStorage { operation in
                switch operation {
                case .read: events.append("read")
                case .store: break
                case .subscribe:
                    begun.set()
                    await mayEnd.wait()
                    events.append("subscribed")
                }
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await observe(storage, events) }
                await begun.wait()
                mayEnd.set()
            }
            _ = await eventually { events.values.count >= 2 }
            return events.values
        }
        let list = await observed { storage, _ in
            let accounts = UserAccounts<User>(storage: storage)
            var lists = accounts.changes.makeAsyncIterator()
            _ = await lists.next()
            withExtendedLifetime(accounts) {}
        }
        #expect(list == ["subscribed", "read"])
        let changes = await observed { storage, events in
            let sessions = AccountSessions.shared(AnyKeyValueStorage(storage), .accounts)
            let changes = await sessions.changes()
            events.append("observed")
            withExtendedLifetime(changes) {}
        }
        #expect(changes == ["subscribed", "observed"])
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
