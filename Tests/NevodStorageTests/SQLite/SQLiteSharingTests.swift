import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// Tests several stores on one file, in one process and in several.
@Suite(.blocking) struct SQLiteSharingTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/tokens.db"
    }

    private func open() async throws -> SQLiteStorage {
        try await SQLiteStorage(path: path, keys: [KeyFile(path: "\(folder.path)/key"), next])
    }

    private var next: KeyFile { KeyFile(path: "\(folder.path)/next") }

    /// When a process closes any descriptor of a file, the system drops all its locks on that file.
    @Test func `Opening and closing a store leaves the locks of another one in the process as they are`() async throws {
        let storage = try await open()
        try await storage.set("value", for: "a")
        let database = storage.connection
        try await database.thread.run { () throws(StorageError) in try database.database.execute("BEGIN IMMEDIATE") }
        _ = try await open().string(for: "a")
        let result = try Command.python(
            """
            import sqlite3, sys
            try:
                sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
                print("not locked")
            except sqlite3.OperationalError as error:
                print(error)
            """, [path])
        #expect(result == ["database is locked"])
        try await database.thread.run { () throws(StorageError) in try database.database.execute("COMMIT") }
    }

    @Test func `Under the renewal lock, reads bypass the cache`() async throws {
        let storage = try await open()
        try await storage.set("old", for: "a")
        #expect(try await storage.string(for: "a") == "old")
        // From now on, neither store sees the other's changes.
        unlink("\(path)-changes")
        try await open().set("new", for: "a")
        let found = Collected<String?>()
        try await storage.withRenewalLock(for: "a") { found.append(try? await storage.string(for: "a")) }
        #expect(found.values == ["new"])
    }

    @Test func `A change of the key while another store writes leaves no store with an old value`() async throws {
        let (storage, other) = (try await open(), try await open())
        try await storage.set("old", for: "a")
        #expect(try await other.string(for: "a") == "old")
        let counters = try ChangeCounters("\(path)-changes")
        // A write that starts before the key is changed and ends afterwards.
        let change = counters.begin("a")
        try await storage.rekey(next)
        #expect(counters.count(of: "a") == nil)
        counters.end("a", change)
        #expect(counters.count(of: "a") != nil)
        #expect(try await other.string(for: "a") == "old")
    }

    @Test func `A key given while all is read is not taken for damage`() async throws {
        let (storage, other) = (try await open(), try await open())
        let count = 2500
        try await storage.setAll((0..<count).map { (StorageKey(rawValue: "k\($0)"), Secret("value")) })
        let isDone = Locked(false)
        let sources = [next, KeyFile(path: "\(folder.path)/key")]
        async let given = {
            var given = 0
            while !isDone.withLock(\.self) {
                try await other.rekey(sources[given % 2])
                given += 1
            }
            return given
        }()
        for _ in 0..<20 {
            let found = try await storage.verify()
            #expect(found.problems == [] && found.values == count)
        }
        isDone.withLock { $0 = true }
        #expect(try await given > 0)
    }

    @Test func `Two processes that migrate a store at once keep one copy of the old layout`() async throws {
        try await open().set("old", for: "a")
        let next = SQLiteSchema(steps: SQLiteSchema.current.steps + ["ALTER TABLE entry ADD COLUMN note TEXT"])
        let children = try (0..<6).map { _ in try StorageChild.spawn(["migrate", "sqlite:\(folder.path)"]) }
        for (pid, pipe) in children {
            #expect(LineReader(pipe).rest() == ["open", "ok"])
            #expect(Command.wait(for: pid) == 0)
            close(pipe)
        }
        let storage = try await SQLiteStorage(
            path: path, keys: [KeyFile(path: "\(folder.path)/key")], schema: next, mustExist: true)
        #expect(try await storage.string(for: "a") == "old")
        let copy = try await SQLiteStorage(path: "\(path).layout-2", keys: [KeyFile(path: "\(folder.path)/key")])
        #expect(try await copy.string(for: "a") == "old")
        #expect(try await copy.verify().problems == [])
    }
}
