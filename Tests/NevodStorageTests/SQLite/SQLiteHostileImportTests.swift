import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// Tests exports that are crafted to keep the importing program busy, with foreign tables.
@Suite(.blocking) struct SQLiteHostileImportTests {
    private let folder: TemporaryFolder
    private let passphrase = Passphrase { _ in Secret("correct horse") }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open(_ name: String) async throws -> SQLiteStorage {
        try await SQLiteStorage(path: "\(folder.path)/\(name).db", keys: [KeyFile(path: "\(folder.path)/key")])
    }

    private static let changes = [
        // Reading a store's rows takes forever.
        """
        ALTER TABLE entry RENAME TO real;
        CREATE VIEW entry AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)
            SELECT 'k' || n AS key, n AS version, x'00' AS sealed FROM c;
        """,
        // Reading one takes gigabytes.
        """
        ALTER TABLE entry RENAME TO real;
        CREATE VIEW entry AS SELECT key, version, zeroblob(1000000000) AS sealed FROM real;
        """,
        "ALTER TABLE store RENAME TO real; CREATE VIEW store AS SELECT * FROM real, (SELECT zeroblob(900000000)) AS x;",
        """
        CREATE TABLE wide (a, b AS (zeroblob(500000000)));
        """,
        "ALTER TABLE entry ADD COLUMN big BLOB AS (zeroblob(900000000));",
        "CREATE INDEX i ON entry (hex(zeroblob(1000000)));",
        "CREATE TRIGGER t AFTER INSERT ON entry BEGIN DELETE FROM entry; END;",
        "ANALYZE;",
        "PRAGMA user_version = 1;",
        "PRAGMA user_version = -5;",
        "DROP TABLE register;",
    ]

    @Test(arguments: changes)
    func `A file with other tables than a store's is refused before anything of it runs`(change: String) async throws {
        let source = try await open("source")
        try await source.set("one", for: "a")
        let file = "\(folder.path)/export"
        try await source.export(to: file, key: passphrase)
        _ = try Command.python("import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])", [file, change])
        let target = try await open("target")
        let start = ContinuousClock.now
        let error = await #expect(throws: StorageError.self) { try await target.importValues(from: file, key: passphrase) }
        #expect(error?.code == .damaged && error?.subject == file, "\(error.map { "\($0)" } ?? "")")
        #expect(ContinuousClock.now - start < .seconds(30))
        #expect(try await target.keys() == [])
    }

    @Test func `Reading a file takes no more steps than its size allows`() throws {
        let path = "\(folder.path)/any.db"
        _ = try Command.python("import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE t (a)')", [path])
        let database = try SQLiteDatabase(path, isReadOnly: true, budget: 1_000_000)
        let error = #expect(throws: StorageError.self) {
            try database.run("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c")
        }
        #expect(error?.code == .damaged && error?.problem.hasPrefix("takes more work to read") == true)
        let large = #expect(throws: StorageError.self) { try database.run("SELECT zeroblob(1000000000)") }
        #expect(large != nil)
        #expect(throws: StorageError.self) { try SQLiteDatabase(path).run("SELECT hex(zeroblob(5000000))") }
    }

    /// Like the limit of the copy in which an export with an earlier layout is read.
    @Test func `A failure with a journal in memory is an error`() throws {
        let path = try folder.write("empty.db")
        let database = try SQLiteDatabase(path)
        try database.run("PRAGMA journal_mode = MEMORY")
        let error = #expect(throws: StorageError.self) {
            try database.transaction { () throws(StorageError) in
                try database.execute("CREATE TABLE t (a)")
                try database.execute("INSERT INTO nowhere VALUES (1)")
            }
        }
        #expect(error?.code == .damaged && error?.problem.contains("nowhere") == true)
    }

    @Test func `An import does not hold the lock while it waits for the key`() async throws {
        let source = try await open("source")
        try await source.set("one", for: "a")
        let file = "\(folder.path)/export"
        try await source.export(to: file, key: passphrase)
        let (target, other) = (try await open("target"), try await open("target"))
        let (asked, answered) = (Latch(), Latch())
        let slow = Passphrase { _ in
            asked.set()
            await answered.wait()
            return Secret("correct horse")
        }
        async let imported = target.importValues(from: file, key: slow, replacing: true)
        await asked.wait()
        try await other.set("meanwhile", for: "b")
        answered.set()
        #expect(try await imported == (1, 0))
        #expect(try await other.string(for: "b") == "meanwhile")
    }

    /// Each round changes one byte, or cuts the file.
    @Test func `A damaged export gives all of its values, or an error`() async throws {
        let rounds = Rounds("EXPORT", default: 40)
        var random = rounds.random
        let key = KeyFile(path: "\(folder.path)/exportkey")
        let source = try await open("source")
        let names = (0..<30).map { StorageKey(rawValue: "k\($0)") }
        try await source.setAll(names.map { ($0, Secret("value of \($0)")) })
        let file = "\(folder.path)/export"
        try await source.export(to: file, key: key)
        let bytes = try contents(of: file)
        for round in 0..<rounds.count {
            var damaged = bytes
            if round.isMultiple(of: 5) { damaged.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
            let place = Int.random(in: 0..<damaged.count, using: &random)
            damaged[place] = UInt8.random(in: 0...255, using: &random)
            let path = try folder.write("damaged-\(round)", damaged)
            do {
                let export = try await SQLiteExport(path, key: key)
                let values = try export.values(after: nil)
                #expect(values.map(\.key) == names.sorted { $0.rawValue < $1.rawValue }, "seed \(rounds.seed), round \(round)")
                #expect(values.allSatisfy { $0.secret == Secret("value of \($0.key)") }, "seed \(rounds.seed), round \(round)")
            } catch is StorageError {}
        }
    }
}
