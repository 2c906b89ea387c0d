import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct SQLiteStorageTests {
    private let folder: TemporaryFolder
    private let path: String
    private let key: KeyFile

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/state/tokens.db"
        key = KeyFile(path: "\(folder.path)/key")
    }

    private func open() async throws -> SQLiteStorage { try await SQLiteStorage(path: path, keys: [key]) }

    private func sql(_ text: String, _ path: String? = nil) throws -> [String] {
        try Command.python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            for row in database.execute(sys.argv[2]): print(*row, sep='|')
            database.commit()
            """, [path ?? self.path, text])
    }

    @Test func `A value is readable until it is removed, also by another store on the same file`() async throws {
        let (storage, other) = (try await open(), try await open())
        #expect(try await storage.data(for: "a") == nil)
        for value: [UInt8] in [[1, 2, 0, 255], [], [UInt8](repeating: 7, count: SQLiteStorage.maximumSize), [3]] {
            try await storage.set(value, for: "a")
            #expect(try await other.data(for: "a") == value)
            #expect(try await storage.data(for: "a") == value)
        }
        try await storage.set("tökén", for: "b'; DROP TABLE entry; --")
        #expect(try await other.string(for: "b'; DROP TABLE entry; --") == "tökén")
        try await other.remove(for: "a")
        try await other.remove(for: "a")
        #expect(try await storage.data(for: "a") == nil)
        #expect(try await open().string(for: "b'; DROP TABLE entry; --") == "tökén")
        #expect(try await storage.keys() == ["b'; DROP TABLE entry; --"])
        let tooLarge = [UInt8](repeating: 0, count: SQLiteStorage.maximumSize + 1)
        let error = await #expect(throws: StorageError.self) { try await storage.set(tooLarge, for: "c") }
        #expect(error?.code == .tooLarge)
    }

    @Test func `A value is replaced only if it is the expected one`() async throws {
        let storage = try await open()
        try await SealedStoreRules.comparesAndSwaps(storage)
    }

    @Test func `All files have mode 0600, and no secret or key is in any of them`() async throws {
        let storage = try await open()
        for number in 0..<50 { try await storage.set("the-secret-\(number)-of-all", for: StorageKey(rawValue: "k\(number)")) }
        try await storage.remove(for: "k7")
        let key = try await self.key.key(for: .random(), salt: [], isNew: false)
        let lines = try Command.python(
            """
            import os, sys
            folder, key = sys.argv[1], bytes.fromhex(sys.argv[2])
            for name in sorted(os.listdir(folder)):
                content = open(f'{folder}/{name}', 'rb').read()
                print(name, oct(os.stat(f'{folder}/{name}').st_mode & 0o7777), b'the-secret' in content, key in content)
            """, ["\(folder.path)/state", key.withUnsafeBytes { hex($0) }])
        #expect(
            lines == ["tokens.db", "tokens.db-changes", "tokens.db-shm", "tokens.db-wal"].map { "\($0) 0o600 False False" })
    }

    @Test func `A file that others can read is refused, and so is one of which others can read a part`() async throws {
        _ = try await open()
        for name in [path, "\(path)-wal"] {
            let storage = try await open()
            try await storage.set([1], for: "a")
            chmod(name, 0o640)
            let error = await #expect(throws: StorageError.self) { try await open() }
            #expect(error?.code == .permissions && error?.subject == name)
            chmod(name, 0o600)
        }
        // A symbolic link among the folders is allowed.
        symlink("\(folder.path)/state", "\(folder.path)/elsewhere")
        _ = try await SQLiteStorage(path: "\(folder.path)/elsewhere/tokens.db", keys: [key]).keys()
        symlink(path, "\(folder.path)/link")
        let linked = await #expect(throws: StorageError.self) {
            try await SQLiteStorage(path: "\(folder.path)/link", keys: [key])
        }
        #expect(linked?.code == .damaged && linked?.subject == "\(folder.path)/link")
        let relative = await #expect(throws: StorageError.self) { try await SQLiteStorage(path: "relative.db", keys: [key]) }
        #expect(relative?.code == .other && relative?.subject == "relative.db")
    }

    @Test func `A value in another's place, or of another time, does not open`() async throws {
        var storage: SQLiteStorage? = try await open()
        try await storage?.set("of a", for: "a")
        try await storage?.set("of b", for: "b")
        storage = nil
        let saved = try sql("SELECT hex(sealed) FROM entry WHERE key = 'a'")
        _ = try sql("UPDATE entry SET sealed = (SELECT sealed FROM entry WHERE key = 'a') WHERE key = 'b'")
        storage = try await open()
        #expect(try await storage?.string(for: "a") == "of a")
        let error = await #expect(throws: StorageError.self) { try await storage?.string(for: "b") }
        #expect(error?.code == .damaged)
        #expect(error?.description.contains("the value of b does not open") == true)
        #expect(try await storage?.verify().problems.count == 1)
        try await storage?.set("newer", for: "a")
        storage = nil
        _ = try sql("UPDATE entry SET sealed = x'\(saved[0])' WHERE key = 'a'")
        let replayed = await #expect(throws: StorageError.self) { try await open().string(for: "a") }
        #expect(replayed?.code == .damaged)
    }

    @Test func `A key that is missing, or another's, is said; nothing is made in its place`() async throws {
        try await SealedStoreRules.opensWithItsKeyAlone(key, other: "\(folder.path)/other") {
            try await SQLiteStorage(path: path, keys: $0)
        }
    }

    @Test func `Concurrent openings of a new file create one store`() async throws {
        let (path, key) = (path, key)
        try await withThrowingTaskGroup { group in
            for number in 0..<12 {
                group.addTask {
                    try await SQLiteStorage(path: path, keys: [key]).set("\(number)", for: StorageKey(rawValue: "\(number)"))
                }
            }
            try await group.waitForAll()
        }
        let storage = try await open()
        for number in 0..<12 { #expect(try await storage.string(for: StorageKey(rawValue: "\(number)")) == "\(number)") }
        #expect(try await storage.verify().values == 12)
    }

    @Test func `Another key for all values, while another store is open`() async throws {
        let (storage, other) = (
            try await open(),
            try await SQLiteStorage(
                path: path, keys: [key, EnvironmentKey(variable: "NEVOD_REKEY_TEST")])
        )
        setenv("NEVOD_REKEY_TEST", String(repeating: "5a", count: 32), 1)
        for number in 0..<2500 { try await storage.set("v\(number)", for: StorageKey(rawValue: "k\(number)")) }
        #expect(try await other.string(for: "k0") == "v0")
        let before = try sql("SELECT hex(sealed) FROM entry WHERE key = 'k0'")
        try await storage.rekey(EnvironmentKey(variable: "NEVOD_REKEY_TEST"))
        #expect(storage.keyKind == "environment")
        #expect(try await storage.verify().values == 2500)
        #expect(try await other.string(for: "k0") == "v0")
        try await other.set("new", for: "k1")
        #expect(try await storage.string(for: "k1") == "new")
        #expect(other.keyKind == "environment")
        #expect(try sql("SELECT hex(sealed) FROM entry WHERE key = 'k0'") != before)
        let error = await #expect(throws: StorageError.self) { try await open() }
        #expect(error?.code == .unavailable)
    }

    @Test func `Rekeying between key files keeps stores working that were given both`() async throws {
        try await SealedStoreRules.goesFromFileToFile(key, next: "\(folder.path)/next") {
            try await SQLiteStorage(path: path, keys: $0)
        }
    }

    @Test func `The key that a store has already is not taken for another`() async throws {
        let storage = try await open()
        try await storage.set("value", for: "a")
        let before = try sql("SELECT hex(sealed) FROM entry")
        let error = await #expect(throws: StorageError.self) { try await storage.rekey(key) }
        #expect(error?.code == .other && error?.subject == path)
        #expect(try sql("SELECT hex(sealed) FROM entry") == before)
        #expect(try await open().string(for: "a") == "value")
    }

    @Test func `An export opens with its own key alone; an import takes what is missing, or all`() async throws {
        let storage = try await open()
        try await storage.set("one", for: "a")
        try await storage.set("two", for: "b")
        try await storage.set("gone", for: "c")
        try await storage.remove(for: "c")
        let passphrase = Passphrase { _ in Secret("correct horse") }
        let file = "\(folder.path)/export"
        #expect(try await storage.export(to: file, key: passphrase) == 2)
        let exists = await #expect(throws: StorageError.self) { try await storage.export(to: file, key: passphrase) }
        #expect(exists?.subject == file)
        let names = try Command.python(
            "import os, sys; print(*sorted(n for n in os.listdir(sys.argv[1]) if n.startswith('export')))", [folder.path])
        #expect(names == ["export"])
        let other = try await SQLiteStorage(path: "\(folder.path)/other.db", keys: [key])
        try await other.set("mine", for: "a")
        let wrong = await #expect(throws: StorageError.self) {
            try await other.importValues(from: file, key: Passphrase { _ in Secret("wrong horse") })
        }
        #expect(wrong?.code == .permissions)
        #expect(try await other.importValues(from: file, key: passphrase) == (1, 1))
        #expect(try await other.string(for: "a") == "mine")
        #expect(try await other.string(for: "b") == "two")
        #expect(try await other.importValues(from: file, key: passphrase, replacing: true) == (2, 0))
        #expect(try await other.string(for: "a") == "one")
        #expect(try await other.keys() == ["a", "b"])
    }

    @Test func `An unchanged value is read without the database`() async throws {
        let storage = try await open()
        try await storage.set("token", for: "a")
        #expect(try await storage.string(for: "a") == "token")
        // A cached value is read without the database and its thread, which are blocked here.
        let (blocked, free) = (Latch(), Latch())
        let thread = storage.connection.thread
        async let holding: Void = thread.run {
            blocked.set()
            free.waitOnThread()
        }
        await blocked.wait()
        #expect(try await storage.string(for: "a") == "token")
        free.set()
        try await holding
        try await open().set("changed", for: "a")
        #expect(try await storage.string(for: "a") == "changed")
    }

    @Test func `A change by a process that died is noticed`() async throws {
        let (storage, other, counters) = (try await open(), try await open(), try ChangeCounters("\(path)-changes"))
        try await storage.set("token", for: "a")
        _ = try await storage.string(for: "a")
        _ = counters.begin("a")
        // As the other process has left it, in the middle of the change.
        let begun = try contents(of: "\(path)-changes")
        try await other.remove(for: "a")
        let file = Glibc.open("\(path)-changes", O_WRONLY | O_CLOEXEC)
        #expect(pwrite(file, begun, begun.count, 0) == begun.count)
        close(file)
        #expect(counters.count(of: "a") == nil)
        #expect(try await storage.string(for: "a") == nil)
        try await storage.set("next", for: "a")
        #expect(counters.count(of: "a") != nil)
    }

    @Test func `A store of an earlier layout opens in a later one, and a copy of it stays`() async throws {
        try await open().set("the-old-secret", for: "a")
        let next = SQLiteSchema(steps: SQLiteSchema.current.steps + ["ALTER TABLE entry ADD COLUMN note TEXT"])
        let storage = try await SQLiteStorage(path: path, keys: [key], schema: next, mustExist: false)
        #expect(try await storage.string(for: "a") == "the-old-secret")
        try await storage.set("the-new-secret", for: "a")
        let copy = "\(path).layout-2"
        var info = stat()
        #expect(lstat(copy, &info) == 0 && info.st_mode & 0o7777 == 0o600)
        #expect(try await SQLiteStorage(path: copy, keys: [key]).string(for: "a") == "the-old-secret")
        let wrapping = try await key.key(for: storage.keyring.store, salt: [], isNew: false)
        let data = try await storage.keyring.withCurrentKey { $0.key.bytes }
        let found = try Command.python(
            """
            import os, sys
            keys = [bytes.fromhex(key) for key in sys.argv[2:]]
            texts = [b'-secret', *keys, *(key.hex().encode() for key in keys)]
            for name in sorted(os.listdir(sys.argv[1])):
                content = open(f'{sys.argv[1]}/{name}', 'rb').read()
                print(name, *(text in content for text in texts))
            """, ["\(folder.path)/state"] + [wrapping, data].map { $0.withUnsafeBytes { hex($0) } })
        #expect(found.map { $0.prefix { $0 != " " } }.contains("tokens.db.layout-2"))
        #expect(found.allSatisfy { !$0.contains("True") }, "\(found)")
        let error = await #expect(throws: StorageError.self) { try await open() }
        #expect(error?.description.contains("has layout 3, but this program supports none later than 2") == true)
    }
}
