import Glibc
import NevodStorage
import NevodSupport
import NevodTestSupport
import Testing

@Suite(.blocking) struct SQLiteImportTests {
    private let folder: TemporaryFolder
    private let key: KeyFile
    private let passphrase = Passphrase { _ in Secret("correct horse") }

    init() throws {
        folder = try TemporaryFolder()
        key = KeyFile(path: "\(folder.path)/key")
    }

    private func open(_ name: String) async throws -> SQLiteStorage {
        try await SQLiteStorage(path: "\(folder.path)/\(name)/tokens.db", keys: [key])
    }

    private func export(_ values: [(key: StorageKey, secret: Secret)]) async throws -> String {
        let storage = try await open("exported")
        try await storage.setAll(values)
        let place = folder.makeFolder("export")
        try await storage.export(to: "\(place)/file", key: passphrase)
        return "\(place)/file"
    }

    /// The content of a folder: names, bytes, and modification times.
    private func state(_ place: String) throws -> [String] {
        try Command.python(
            """
            import hashlib, os, sys
            for name in sorted(os.listdir(sys.argv[1])):
                path = os.path.join(sys.argv[1], name)
                print(name, os.stat(path).st_mtime_ns, os.stat(path).st_ino, hashlib.sha256(open(path, 'rb').read()).hexdigest())
            """, [place])
    }

    private func sql(_ path: String, _ text: String) throws {
        _ = try Command.python(
            "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit()", [path, text])
    }

    @Test func `An export that is taken over, or refused, stays as it is`() async throws {
        let file = try await export([("a", Secret("one")), ("b", Secret("two"))])
        let before = try state("\(folder.path)/export")
        #expect(before.count == 1)
        let storage = try await open("mine")
        let error = await #expect(throws: StorageError.self) {
            try await storage.importValues(from: file, key: Passphrase { _ in Secret("wrong horse") })
        }
        #expect(error?.code == .permissions)
        #expect(try await storage.importValues(from: file, key: passphrase) == (2, 0))
        #expect(try state("\(folder.path)/export") == before)
    }

    @Test func `A store is no export, be it in use, closed or the copy of its file alone`() async throws {
        let storage = try await open("mine")
        try await storage.set("mine", for: "a")
        var other: SQLiteStorage? = try await open("other")
        try await other?.set("theirs", for: "a")
        let place = "\(folder.path)/other"
        let file = "\(place)/tokens.db"
        func refuse(_ file: String) async {
            let error = await #expect(throws: StorageError.self) {
                try await storage.importValues(from: file, key: key, replacing: true)
            }
            #expect(error?.subject == file && error?.problem == "is a store that may be in use, and not an export")
        }
        let inUse = try state(place)
        #expect(inUse.count == 4)
        await refuse(file)
        #expect(try state(place) == inUse)
        #expect(try await other?.string(for: "a") == "theirs")
        other = nil
        #expect(await eventually { access("\(file)-wal", F_OK) != 0 })
        let closed = try state(place)
        await refuse(file)
        #expect(try state(place) == closed)
        let copies = folder.makeFolder("copies")
        let copy = try folder.write("copies/tokens.db", try contents(of: file))
        let alone = try state(copies)
        await refuse(copy)
        #expect(try state(copies) == alone)
        #expect(try await storage.string(for: "a") == "mine")
    }

    @Test func `An import takes all values, or none`() async throws {
        let values = (0..<1500).map { (key: StorageKey(rawValue: "k\($0)"), secret: Secret("new")) }
        let file = try await export(values)
        // The last in order.
        try sql(file, "UPDATE entry SET version = version + 1 WHERE key = 'k999'")
        let (storage, other) = (try await open("mine"), try await open("mine"))
        try await storage.set("old", for: "k0")
        #expect(try await other.string(for: "k0") == "old")
        let error = await #expect(throws: StorageError.self) {
            try await storage.importValues(from: file, key: passphrase, replacing: true)
        }
        #expect(error?.code == .damaged && error?.subject == file)
        #expect(try await storage.keys() == ["k0"])
        #expect(try await storage.string(for: "k0") == "old")
        try sql(file, "UPDATE entry SET version = version - 1 WHERE key = 'k999'")
        #expect(try await storage.importValues(from: file, key: passphrase) == (1499, 1))
        #expect(try await storage.importValues(from: file, key: passphrase, replacing: true) == (1500, 0))
        #expect(try await other.string(for: "k0") == "new")
        #expect(try await storage.verify().values == 1500)
    }

    @Test func `An export of an earlier layout is read in a copy, and one of a later is refused`() async throws {
        let file = try await export([("a", Secret("one"))])
        let before = try state("\(folder.path)/export")
        let next = SQLiteSchema(steps: SQLiteSchema.current.steps + ["ALTER TABLE entry ADD COLUMN note TEXT"])
        let values = try await SQLiteExport(file, key: passphrase, schema: next).values(after: nil)
        #expect(values.map(\.key) == ["a"] && values.first?.secret == Secret("one"))
        #expect(try state("\(folder.path)/export") == before)
        try sql(file, "PRAGMA user_version = 3")
        let error = await #expect(throws: StorageError.self) { try await SQLiteExport(file, key: passphrase) }
        #expect(error?.description.contains("has layout 3, but this program supports none later than 2") == true)
    }
}
