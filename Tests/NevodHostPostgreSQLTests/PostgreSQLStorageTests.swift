import Glibc
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHostPostgreSQL

@Suite(.blocking, .timeLimit(.minutes(3)))
struct PostgreSQLStorageTests {
    private let server: PostgreSQLServer
    private let folder: TemporaryFolder
    private let key: KeyFile

    init() throws {
        server = try PostgreSQLServer.shared()
        folder = try TemporaryFolder()
        key = KeyFile(path: "\(folder.path)/key")
    }

    private func open(_ schema: String = #function) async throws -> PostgreSQLStorage {
        try await server.open(server.schema(schema), keys: [key])
    }

    @Test func `A value is readable until it is removed, also by another store on the same schema`() async throws {
        let (storage, other) = (try await open(), try await open())
        #expect(try await storage.data(for: "a") == nil)
        for value: [UInt8] in [[1, 2, 0, 255], [], [UInt8](repeating: 7, count: PostgreSQLStorage.maximumSize), [3]] {
            try await storage.set(value, for: "a")
            #expect(try await storage.data(for: "a") == value)
            #expect(try await eventually { try await other.data(for: "a") == value })
        }
        try await storage.set("tökén", for: "b'; DROP TABLE entry; --\0")
        #expect(try await other.string(for: "b'; DROP TABLE entry; --\0") == "tökén")
        #expect(try await other.string(for: "b'; DROP TABLE entry; --") == nil)
        try await other.remove(for: "a")
        try await other.remove(for: "a")
        #expect(try await eventually { try await storage.data(for: "a") == nil })
        #expect(try await open().string(for: "b'; DROP TABLE entry; --\0") == "tökén")
        #expect(try await storage.keys() == ["b'; DROP TABLE entry; --\0"])
        let tooLarge = [UInt8](repeating: 0, count: PostgreSQLStorage.maximumSize + 1)
        let error = await #expect(throws: StorageError.self) { try await storage.set(tooLarge, for: "c") }
        #expect(error?.code == .tooLarge)
        let longest = StorageKey(rawValue: String(repeating: "k", count: PostgreSQLStorage.maximumKeySize))
        try await storage.set("long", for: longest)
        #expect(try await other.string(for: longest) == "long")
        let longer = StorageKey(rawValue: longest.rawValue + "k")
        #expect(await #expect(throws: StorageError.self) { try await storage.set("long", for: longer) }?.code == .tooLarge)
        #expect(await #expect(throws: StorageError.self) { try await storage.data(for: longer) }?.code == .tooLarge)
    }

    @Test func `A value is replaced only if it is the expected one, even if another one is cached`() async throws {
        let (storage, other) = (try await open(), try await open())
        try await SealedStoreRules.comparesAndSwaps(storage)
        for number in 0..<20 {
            try await storage.set([UInt8(number)], for: "b")
            #expect(try await other.replace([UInt8(number)], with: [100], for: "b"))
            #expect(try await !storage.replace([UInt8(number)], with: [101], for: "b"))
            #expect(try await storage.data(for: "b") == [100])
        }
    }

    @Test func `Two stores count together by comparing and swapping, and lose nothing`() async throws {
        let stores = [try await open(), try await open()]
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    let storage = stores[number % 2]
                    for _ in 0..<25 {
                        var isDone = false
                        while !isDone {
                            let old = try await storage.data(for: "n")
                            isDone = try await storage.replace(old, with: [(old?.first ?? 0) + 1], for: "n")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await open().data(for: "n") == [200])
    }

    @Test func `A value in another's place, or of another time, does not open`() async throws {
        let (storage, schema) = (try await open(), server.schema())
        try await storage.set("of a", for: "a")
        try await storage.set("of b", for: "b")
        let saved = try server.sql("SELECT encode(sealed, 'hex') FROM \(schema).entry WHERE key = 'a'")
        try server.sql(
            "UPDATE \(schema).entry SET sealed = (SELECT sealed FROM \(schema).entry WHERE key = 'a') WHERE key = 'b'")
        let other = try await open()
        #expect(try await other.string(for: "a") == "of a")
        let error = await #expect(throws: StorageError.self) { try await other.string(for: "b") }
        #expect(error?.code == .damaged)
        #expect(error?.description.contains("the value of b does not open") == true)
        let found = try await storage.verify()
        #expect(found.values == 1 && found.problems.count == 1)
        try await storage.set("newer", for: "a")
        try server.sql("UPDATE \(schema).entry SET sealed = decode('\(saved[0])', 'hex') WHERE key = 'a'")
        let replayed = await #expect(throws: StorageError.self) { try await open().string(for: "a") }
        #expect(replayed?.code == .damaged)
    }

    @Test func `A key that is missing, or another's, is said; nothing is made in its place`() async throws {
        let schema = server.schema()
        try await SealedStoreRules.opensWithItsKeyAlone(key, other: "\(folder.path)/other") {
            try await server.open(schema, keys: $0)
        }
    }

    @Test func `Concurrent openings of a new schema create one store`() async throws {
        let (server, schema, key) = (server, server.schema(), key)
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                group.addTask {
                    try await server.open(schema, keys: [key]).set("\(number)", for: StorageKey(rawValue: "\(number)"))
                }
            }
            try await group.waitForAll()
        }
        let storage = try await open()
        for number in 0..<8 { #expect(try await storage.string(for: StorageKey(rawValue: "\(number)")) == "\(number)") }
        #expect(try await storage.verify().values == 8)
    }

    @Test func `Rekeying keeps the values that another open store writes meanwhile`() async throws {
        let environment = EnvironmentKey(variable: "NEVOD_PG_REKEY_TEST")
        setenv("NEVOD_PG_REKEY_TEST", String(repeating: "5a", count: 32), 1)
        let storage = try await open()
        let other = try await server.open(server.schema(), keys: [key, environment])
        for number in 0..<1200 { try await storage.set("v\(number)", for: StorageKey(rawValue: "k\(number)")) }
        #expect(try await other.string(for: "k0") == "v0")
        let before = try server.sql("SELECT encode(sealed, 'hex') FROM \(server.schema()).entry WHERE key = 'k0'")
        let isDone = Shared(false)
        async let written = {
            var count = 0
            while !isDone.value || count == 0 {
                try await other.set("new", for: StorageKey(rawValue: "new \(count)"))
                count += 1
            }
            return count
        }()
        try await storage.rekey(environment)
        isDone.withLock { $0 = true }
        let count = try await written
        #expect(storage.keyKind == "environment")
        let found = try await storage.verify()
        #expect(found.values == 1200 + count && found.problems.isEmpty)
        try await other.set("newer", for: "k1")
        #expect(try await eventually { try await storage.string(for: "k1") == "newer" })
        #expect(other.keyKind == "environment")
        #expect(try server.sql("SELECT encode(sealed, 'hex') FROM \(server.schema()).entry WHERE key = 'k0'") != before)
        let error = await #expect(throws: StorageError.self) { try await open() }
        #expect(error?.code == .unavailable)
    }

    @Test func `Rekeying between key files keeps stores working that were given both`() async throws {
        let schema = server.schema()
        try await SealedStoreRules.goesFromFileToFile(key, next: "\(folder.path)/next") {
            try await server.open(schema, keys: $0)
        }
    }

    @Test func `An export is a store of one file, which either kind of store takes`() async throws {
        let storage = try await open()
        try await storage.set("one", for: "a")
        try await storage.set("two", for: "b")
        try await storage.set("gone", for: "c")
        try await storage.remove(for: "c")
        let passphrase = Passphrase { _ in Secret("correct horse") }
        let file = "\(folder.path)/export"
        #expect(try await storage.export(to: file, key: passphrase) == 2)
        let single = try await SQLiteStorage(path: "\(folder.path)/single.db", keys: [key])
        #expect(try await single.importValues(from: file, key: passphrase) == (2, 0))
        #expect(try await single.string(for: "a") == "one")
        let other = try await server.open("\(server.schema())b", keys: [key])
        try await other.set("mine", for: "a")
        #expect(try await other.importValues(from: file, key: passphrase) == (1, 1))
        #expect(try await other.string(for: "a") == "mine")
        #expect(try await other.importValues(from: file, key: passphrase, replacing: true) == (2, 0))
        #expect(try await other.string(for: "a") == "one")
        #expect(try await other.keys(withPrefix: "b") == ["b"])
    }

    @Test func `An import takes all or nothing, and is heard of as any change`() async throws {
        let storage = try await open()
        let passphrase = Passphrase { _ in Secret("correct horse") }
        let source = try await SQLiteStorage(path: "\(folder.path)/source.db", keys: [key])
        let keys = (0..<1200).map { StorageKey(rawValue: "k\($0)") }
        try await source.setAll(keys.map { ($0, Secret("new")) })
        let (good, bad) = ("\(folder.path)/good", "\(folder.path)/bad")
        for file in [good, bad] { try await source.export(to: file, key: passphrase) }
        // The last in order.
        _ = try Command.python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute("UPDATE entry SET version = version + 1 WHERE key = 'k999'")
            database.commit()
            """, [bad])
        try await storage.set("old", for: "k0")
        #expect(try await storage.string(for: "k0") == "old")
        let error = await #expect(throws: StorageError.self) {
            try await storage.importValues(from: bad, key: passphrase, replacing: true)
        }
        #expect(error?.code == .damaged)
        #expect(try await storage.keys() == ["k0"])
        #expect(try await storage.string(for: "k0") == "old")

        let witness = try await open()
        #expect(try await witness.string(for: "k0") == "old")
        var changes = await witness.changes().makeAsyncIterator()
        #expect(try await storage.importValues(from: good, key: passphrase) == (1199, 1))
        #expect(try await storage.string(for: "k0") == "old")
        #expect(try await storage.importValues(from: good, key: passphrase, replacing: true) == (1200, 0))
        // Reported immediately, because the change is this store's own.
        #expect(try await storage.string(for: "k0") == "new")
        var heard: Set<StorageKey> = []
        while heard.count < 1200, let key = await changes.next(isolation: nil) { heard.insert(key) }
        #expect(heard == Set(keys))
        #expect(try await witness.string(for: "k0") == "new")
        let found = try await storage.verify()
        #expect(found.values == 1200 && found.problems == [])
    }

    @Test func `A schema of an earlier layout becomes one of the next, and one of a later is refused`() async throws {
        try await open().set("old", for: "a")
        let name = server.schema()
        let next = try PostgreSQLSchema(name, laterSteps: ["ALTER TABLE \(name).entry ADD COLUMN note text"])
        let storage = try await PostgreSQLStorage(server.connection, next, 1, [key])
        #expect(try await storage.string(for: "a") == "old")
        try await storage.set("new", for: "a")
        let error = await #expect(throws: StorageError.self) { try await open() }
        #expect(error?.code == .damaged)
        #expect(error?.description.contains("has layout 3, but this program supports none later than 2") == true)
        for bad in ["", "Nevod", "a b", "x\"; --", "1a", "pg_x", String(repeating: "a", count: 41)] {
            let error = #expect(throws: StorageError.self) { try PostgreSQLSchema(bad) }
            #expect(error?.code == .other && error?.subject == bad)
        }
    }

    @Test func `The server's files hold no value and no key`() async throws {
        let storage = try await open()
        for number in 0..<50 { try await storage.set("the-secret-\(number)-of-all", for: StorageKey(rawValue: "kk-\(number)")) }
        try await storage.remove(for: "kk-7")
        try server.sql("CHECKPOINT")
        let key = try await self.key.key(for: .random(), salt: [], isNew: false)
        let lines = try Command.python(
            """
            import os, sys
            folder, key = sys.argv[1], bytes.fromhex(sys.argv[2])
            found = {b'the-secret-': 0, key: 0, key.hex().encode(): 0, b'kk-11': 0}
            for path, _, names in os.walk(folder):
                for name in names:
                    try: content = open(f'{path}/{name}', 'rb').read()
                    except OSError: continue
                    for text in found: found[text] += text in content
            print(*(count > 0 for count in found.values()))
            """, [server.folder, key.withUnsafeBytes { hex($0) }])
        // The last one shows that the search would have found them.
        #expect(lines == ["False False False True"])
    }

    @Test func `Concurrent reads share round trips; remembered values take none`() async throws {
        let writer = try await open()
        let keys = (0..<64).map { StorageKey(rawValue: "key \($0)") }
        for key in keys { try await writer.set(key.rawValue, for: key) }
        let storage = try await open()
        _ = try await storage.string(for: "another")
        let clock = ContinuousClock()
        let before = storage.reads.roundTripCount
        let together = try await clock.measure {
            try await withThrowingTaskGroup { group in
                for key in keys { group.addTask { try await storage.string(for: key) == key.rawValue } }
                for try await isRight in group { #expect(isRight) }
            }
        }
        let turns = storage.reads.roundTripCount
        #expect(turns - before < 32)
        let known = try await clock.measure { for key in keys { _ = try await storage.string(for: key) } }
        #expect(storage.reads.roundTripCount == turns)
        let another = try await open()
        _ = try await another.string(for: "another")
        let apart = try await clock.measure { for key in keys { _ = try await another.string(for: key) } }
        print("64 reads: together \(together), one after another \(apart), known \(known)")
    }
}
