import Foundation
import NevodHost
import NevodSessions
import NevodSupport
import NevodTestSupport
import Testing

struct StorageMigratorTests {
    private static let session = StorageMigration.session(
        from: 1, to: 2, access: "old_access_token", refresh: "old_refresh_token", key: "nevod.session")
    private static let rename = StorageMigration.renaming(from: 2, to: 3, ["nevod.session": "session", "theme": "app.theme"])
    private static let user = StorageMigration(
        from: 3, to: 5, keys: ["session"],
        forward: { values in
            guard let session = try values.session(of: User.self, for: "session") else { return }
            try values.setSession(session.tokens, user: ["name": session.user?.email ?? "unknown"], for: "session")
        },
        back: { values in
            guard let session = try values.session(of: [String: String].self, for: "session") else { return }
            let user = session.user?["name"].map { User(id: 0, email: $0) }
            try values.setSession(session.tokens, user: user, for: "session")
        })
    private static let steps = [session, rename, user]

    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func oldDisk() -> Disk {
        let disk = Disk()
        disk.set(Array("access".utf8), "old_access_token")
        disk.set(Array("refresh".utf8), "old_refresh_token")
        disk.set(Array("dark".utf8), "theme")
        return disk
    }

    private func migrator(
        _ storage: some KeyValueStorage, _ steps: [StorageMigration] = Self.steps
    ) throws -> StorageMigrator { try StorageMigrator(storage: storage, steps: steps) }

    private func opened(_ storage: any KeyValueStorage) throws -> StorageMigrator {
        func open(_ storage: some KeyValueStorage) throws -> StorageMigrator { try migrator(storage) }
        return try open(storage)
    }

    /// Without the random parts.
    private func readable(_ disk: Disk) async throws -> [String: String] {
        var found: [String: String] = [:]
        for (key, value) in disk.contents {
            found["\(key)"] = String(decoding: value, as: UTF8.self)
            if key == "session" || key == .session {
                let storage = SessionStorage<[String: String]>(storage: CrashingStorage(disk), key: key)
                let session = try #require(try await storage.load())
                found["\(key)"] = "\(session.tokens.accessToken) \(session.tokens.refreshToken) \(session.user?["name"] ?? "-")"
            }
        }
        return found
    }

    private static let newest = [
        "nevod.format": #"{"version":5}"#, "session": "access refresh unknown", "app.theme": "dark",
    ]

    @Test func `Tokens of the first format become a session, forward, back and forward`() async throws {
        let disk = oldDisk()
        let storage = CrashingStorage(disk)
        let migrator = try migrator(storage)
        #expect(try await migrator.version() == 1)
        #expect(try await migrator.migrate() == 3)
        #expect(try await migrator.version() == 5)
        #expect(try await readable(disk) == Self.newest)
        #expect(try await migrator.migrate() == 0)
        let before = disk.contents
        #expect(try await migrator.migrate(to: 2) == 2)
        #expect(try await migrator.migrate() == 2)
        // The session goes on, so the bytes are the same.
        #expect(disk.contents == before)
        #expect(try await migrator.migrate(to: 1) == 3)
        var old = oldDisk().contents
        old[.format] = Array(#"{"version":1}"#.utf8)
        #expect(disk.contents == old)
        #expect(try await migrator.migrate(to: 2) == 1)
        #expect(
            await SessionStorage<User>(storage: storage).loadTokens()
                == AuthTokens(accessToken: "access", refreshToken: "refresh"))
        #expect(try await migrator.migrate() == 2)
        #expect(try await readable(disk) == Self.newest)
    }

    @Test func `An empty store, and one with a part of a session`() async throws {
        let disk = Disk()
        #expect(try await migrator(CrashingStorage(disk)).migrate() == 3)
        #expect(disk.contents == [.format: Array(#"{"version":5}"#.utf8)])
        let part = Disk()
        part.set([1], "old_access_token")
        #expect(try await migrator(CrashingStorage(part)).migrate() == 3)
        #expect(part.contents == disk.contents)
    }

    @Test(arguments: [false, true]) func `After a crash at any write, another run ends in the same state`(isAfter: Bool)
        async throws
    {
        for target in [5, 1] {
            var crashes = 0
            for number in 1... {
                let disk = oldDisk()
                if target == 1 { try await migrator(CrashingStorage(disk)).migrate() }
                let storage = CrashingStorage(disk, crashAt: number, isAfter: isAfter)
                do { try await migrator(storage).migrate(to: target) } catch is CrashingStorage.Crash {}
                guard storage.hasCrashed else { break }
                crashes += 1
                // At every moment, the tokens are somewhere.
                let places: [StorageKey] = ["old_refresh_token", .session, "session"]
                #expect(places.contains { disk.contents[$0] != nil }, "at write \(number)")
                try await migrator(CrashingStorage(disk)).migrate(to: target)
                if target == 5 {
                    #expect(try await readable(disk) == Self.newest, "at write \(number)")
                } else {
                    var old = oldDisk().contents
                    old[.format] = Array(#"{"version":1}"#.utf8)
                    #expect(disk.contents == old, "at write \(number)")
                }
            }
            #expect(crashes >= 12)
        }
    }

    @Test func `A step that throws leaves the store as it was`() async throws {
        struct Bad: Error {}
        let disk = oldDisk()
        let broken = StorageMigration(from: 2, to: 3, keys: ["theme", "new"]) { values in
            values.set("light", for: "theme")
            values.set("value", for: "new")
            throw Bad()
        }
        let migrator = try migrator(CrashingStorage(disk), [Self.session, broken])
        await #expect(throws: Bad.self) { try await migrator.migrate() }
        #expect(try await migrator.version() == 2)
        #expect(disk.contents["theme"] == Array("dark".utf8) && disk.contents["new"] == nil)
        let unnamed = StorageMigration(from: 2, to: 3, keys: []) { $0.set("light", for: "theme") }
        await #expect(throws: MigrationError.unnamedKey("theme", from: 2, to: 3)) {
            try await self.migrator(CrashingStorage(disk), [Self.session, unnamed]).migrate()
        }
        #expect(disk.contents["theme"] == Array("dark".utf8))
    }

    @Test func `What a later app has stored is refused and not touched`() async throws {
        let disk = oldDisk()
        let later = StorageMigration(from: 5, to: 6, keys: ["app.theme"]) { $0["app.theme"] = nil }
        try await migrator(CrashingStorage(disk), Self.steps + [later]).migrate()
        let before = disk.contents
        for target in [nil, 1, 5] {
            let error = await #expect(throws: MigrationError.unknownFormat(found: 6, known: 1...5)) {
                try await migrator(CrashingStorage(disk)).migrate(to: target)
            }
            #expect("\(error as Any)".contains("update the app"))
        }
        // A step that can't be undone fails before any other step is made.
        let full = try migrator(CrashingStorage(disk), Self.steps + [later])
        await #expect(throws: MigrationError.noWayBack(from: 6, to: 5)) { try await full.migrate(to: 2) }
        await #expect(throws: MigrationError.unknownTarget(4, known: 1...6)) { try await full.migrate(to: 4) }
        #expect(disk.contents == before)
        // A later version of the app that crashed in the middle of its step.
        let crashed = oldDisk()
        try await self.migrator(CrashingStorage(crashed)).migrate()
        let app = try self.migrator(CrashingStorage(crashed, crashAt: 2), Self.steps + [later])
        await #expect(throws: CrashingStorage.Crash.self) { try await app.migrate() }
        let planned = crashed.contents
        await #expect(throws: MigrationError.unknownFormat(found: 6, known: 1...5)) {
            try await self.migrator(CrashingStorage(crashed)).migrate()
        }
        #expect(crashed.contents == planned)
    }

    @Test func `Steps that don't follow one another, and a version that is none, are errors`() async throws {
        #expect(throws: MigrationError.steps) { try migrator(InMemoryStorage(), []) }
        #expect(throws: MigrationError.steps) { try migrator(InMemoryStorage(), [Self.rename, Self.session]) }
        #expect(throws: MigrationError.steps) {
            try migrator(InMemoryStorage(), [StorageMigration(from: 2, to: 2, keys: []) { _ in }])
        }
        let storage = InMemoryStorage()
        for text in ["", "{}", "2", #"{"version":"2"}"#] {
            try await storage.set(text, for: .format)
            await #expect(throws: StorageError.self) { try await migrator(storage).migrate() }
            #expect(try await storage.string(for: .format) == text)
        }
    }

    @Test func `A value that an earlier app changes meanwhile is migrated as it is then`() async throws {
        let disk = oldDisk()
        let renewals = Locked(2)
        let racing = StorageMigration(from: 1, to: 2, keys: ["old_access_token", "old_refresh_token", "nevod.session"]) {
            values in
            try Self.session.apply(&values)
            // After the step has read the values and before it removes them.
            let rest = renewals.withLock { rest in
                rest -= 1
                return rest
            }
            if rest >= 0 { disk.set(Array("renewed-\(rest)".utf8), "old_refresh_token") }
        }
        #expect(try await migrator(CrashingStorage(disk), [racing]).migrate() == 1)
        let tokens = await SessionStorage<User>(storage: CrashingStorage(disk)).loadTokens()
        #expect(tokens == AuthTokens(accessToken: "access", refreshToken: "renewed-0"))
        #expect(disk.contents.keys.sorted { "\($0)" < "\($1)" } == [.format, .session, "theme"])
    }

    @Test func `A logout by an earlier app meanwhile is not undone`() async throws {
        let disk = oldDisk()
        let hasLoggedOut = Locked(false)
        let racing = StorageMigration(from: 1, to: 2, keys: ["old_access_token", "old_refresh_token", "nevod.session"]) {
            values in
            try Self.session.apply(&values)
            let isFirst = hasLoggedOut.withLock { hasLoggedOut in
                defer { hasLoggedOut = true }
                return !hasLoggedOut
            }
            if isFirst {
                disk.set(nil, "old_refresh_token")
                disk.set(Array("other".utf8), "old_access_token")
            }
        }
        #expect(try await migrator(CrashingStorage(disk), [racing]).migrate() == 1)
        #expect(disk.contents.keys.sorted { "\($0)" < "\($1)" } == [.format, "theme"])
    }

    @Test func `A logout by an earlier app that removes both tokens meanwhile is not undone`() async throws {
        let disk = oldDisk()
        let racing = StorageMigration(from: 1, to: 2, keys: ["old_access_token", "old_refresh_token", "nevod.session"]) {
            values in
            try Self.session.apply(&values)
            disk.set(nil, "old_access_token")
            disk.set(nil, "old_refresh_token")
        }
        #expect(try await migrator(CrashingStorage(disk), [racing]).migrate() == 1)
        #expect(disk.contents.keys.sorted { "\($0)" < "\($1)" } == [.format, "theme"])
    }

    /// The writes of the first step: the plan, the session, the mark that removals follow, and the two removals.
    @Test(arguments: [(1, true), (2, false), (2, true), (3, false)])
    func `A logout after a crash, before the first removal, is not undone`(number: Int, isAfter: Bool) async throws {
        let disk = oldDisk()
        let first = try migrator(CrashingStorage(disk, crashAt: number, isAfter: isAfter), [Self.session])
        await #expect(throws: CrashingStorage.Crash.self) { try await first.migrate() }
        #expect(disk.contents["old_access_token"] != nil && disk.contents["old_refresh_token"] != nil)
        disk.set(nil, "old_access_token")
        disk.set(nil, "old_refresh_token")
        #expect(try await migrator(CrashingStorage(disk), [Self.session]).migrate() == 1)
        #expect(disk.contents.keys.sorted { "\($0)" < "\($1)" } == [.format, "theme"])
    }

    @Test(arguments: [(1, true), (2, true), (3, true)])
    func `A logout after a crash of a renaming is not undone`(number: Int, isAfter: Bool) async throws {
        let disk = oldDisk()
        try await migrator(CrashingStorage(disk), [Self.session]).migrate()
        let first = try migrator(CrashingStorage(disk, crashAt: number, isAfter: isAfter), [Self.session, Self.rename])
        await #expect(throws: CrashingStorage.Crash.self) { try await first.migrate() }
        #expect(disk.contents[.session] != nil)
        disk.set(nil, .session)
        #expect(try await migrator(CrashingStorage(disk), [Self.session, Self.rename]).migrate() == 1)
        #expect(disk.contents.keys.sorted { "\($0)" < "\($1)" } == ["app.theme", .format])
        #expect(disk.contents["app.theme"] == Array("dark".utf8))
    }

    @Test func `A plan without a stage, as earlier versions of this library wrote, is completed`() async throws {
        let disk = oldDisk()
        let first = try migrator(CrashingStorage(disk, crashAt: 2, isAfter: true), [Self.session])
        await #expect(throws: CrashingStorage.Crash.self) { try await first.migrate() }
        let plan = String(decoding: try #require(disk.contents[.format]), as: UTF8.self)
        #expect(plan.contains("mayHaveRemoved"))
        disk.set(Array(plan.replacing(#""mayHaveRemoved":false,"#, with: "").utf8), .format)
        // Removed by the crashed process.
        disk.set(nil, "old_access_token")
        #expect(try await migrator(CrashingStorage(disk), [Self.session]).migrate() == 1)
        let tokens = await SessionStorage<User>(storage: CrashingStorage(disk)).loadTokens()
        #expect(tokens == AuthTokens(accessToken: "access", refreshToken: "refresh"))
    }

    @Test(arguments: [false, true]) func `A crash during an undo loses no token`(isAfter: Bool) async throws {
        var crashes = 0
        for number in 1... {
            let disk = oldDisk()
            let isFirst = Locked(true)
            let racing = StorageMigration(from: 1, to: 2, keys: ["old_access_token", "old_refresh_token", "nevod.session"]) {
                values in
                try Self.session.apply(&values)
                let isFirst = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
                // The token that is removed last, so that the other one is already removed when this one conflicts.
                if isFirst { disk.set(Array("renewed".utf8), "old_refresh_token") }
            }
            let storage = CrashingStorage(disk, crashAt: number, isAfter: isAfter)
            let first = try migrator(storage, [racing])
            do { try await first.migrate() } catch is CrashingStorage.Crash {}
            guard storage.hasCrashed else { break }
            guard String(decoding: disk.contents[.format] ?? [], as: UTF8.self).contains("isUndone") else { continue }
            crashes += 1
            #expect(try await migrator(CrashingStorage(disk), [racing]).migrate() == 1)
            let tokens = await SessionStorage<User>(storage: CrashingStorage(disk)).loadTokens()
            #expect(tokens == AuthTokens(accessToken: "access", refreshToken: "renewed"), "at write \(number)")
            #expect(disk.contents.keys.sorted { "\($0)" < "\($1)" } == [.format, .session, "theme"], "at write \(number)")
        }
        #expect(crashes >= 3)
    }

    @Test func `Migrators at once make each step once`() async throws {
        let path = "\(folder.path)/files"
        let first = try FileStorage(directory: path)
        try await first.set("access", for: "old_access_token")
        try await first.set("refresh", for: "old_refresh_token")
        let memory = InMemoryStorage()
        try await memory.set("access", for: "old_access_token")
        try await memory.set("refresh", for: "old_refresh_token")
        for storages in [[first, try FileStorage(directory: path)], [memory, memory]] as [[any KeyValueStorage]] {
            let migrators = try (0..<8).map { try opened(storages[$0 % 2]) }
            let steps = try await withThrowingTaskGroup(of: Int.self) { group in
                for migrator in migrators { group.addTask { try await migrator.migrate() } }
                return try await group.reduce(0, +)
            }
            #expect(steps == 3)
            func tokens(_ storage: some KeyValueStorage) async throws -> AuthTokens? {
                try await SessionStorage<[String: String]>(storage: storage, key: "session").load()?.tokens
            }
            #expect(try await tokens(storages[0]) == AuthTokens(accessToken: "access", refreshToken: "refresh"))
        }
    }
}
