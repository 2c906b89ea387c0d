import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// Tests files that are moved, removed, replaced or truncated while a store has them open.
@Suite(.blocking) struct SQLiteFilesTests {
    private let folder: TemporaryFolder
    private let place: String
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        place = "\(folder.path)/store"
        path = "\(place)/tokens.db"
    }

    private func open() async throws -> SQLiteStorage {
        try await SQLiteStorage(path: path, keys: [KeyFile(path: "\(folder.path)/key")])
    }

    private static let shells = [
        "rm store/tokens.db", "rm -r store", "mv store old && mkdir -m 700 store", "mv store/tokens.db store/old.db",
        "cp -p store/tokens.db store/new.db && mv store/new.db store/tokens.db", "rm store/tokens.db-wal",
        "rm store/tokens.db-shm", "mv store/tokens.db-wal store/old-wal", "truncate -s 0 store/tokens.db-shm",
    ]

    @Test(arguments: shells)
    func `Neither a write nor a lock succeeds once a file is not where it was`(shell: String) async throws {
        let storage = try await open()
        try await storage.set("one", for: "a")
        _ = try Command.output(["sh", "-c", "cd \(folder.path) && \(shell)"])
        let calls: [() async throws -> Void] = [
            { try await storage.set("two", for: "a") }, { _ = try await storage.string(for: "b") },
            { _ = try await storage.keys() }, { try await storage.rekey(KeyFile(path: "\(folder.path)/next")) },
            { try await storage.withRenewalLock(for: "a") { Issue.record("the lock is given") } },
        ]
        for (index, call) in calls.enumerated() {
            let error = await #expect(throws: StorageError.self, "\(index)") { try await call() }
            #expect(error?.code == .unavailable && error?.subject.hasPrefix(path) == true, "\(index)")
            // The lock is in the folder, which may itself be missing.
            guard index < 4 else { continue }
            #expect(error?.problem.contains("was moved, removed, replaced or truncated while") == true)
            #expect(error?.remedy?.hasPrefix("stop the programs that use it; then ") == true)
        }
    }

    @Test(arguments: [
        "rm store/tokens.db-changes", "mv store/tokens.db-changes store/x", "truncate -s 0 store/tokens.db-changes",
        "truncate -s 5000 store/tokens.db-changes", "rm store/tokens.db-changes && touch store/tokens.db-changes",
    ])
    func `A file of counters that was removed or cut is noticed by the reader, and made anew`(shell: String) async throws {
        let storage = try await open()
        for number in 0..<40 { try await storage.set("old", for: StorageKey(rawValue: "k\(number)")) }
        _ = try Command.output(["sh", "-c", "cd \(folder.path) && umask 077 && \(shell)"])
        let other = try await open()
        for number in 0..<40 {
            let name = StorageKey(rawValue: "k\(number)")
            #expect(try await storage.string(for: name) == "old")
            try await other.set("new", for: name)
            #expect(try await storage.string(for: name) == "new")
            // Both use the same file of counters again.
            try await storage.set("newer", for: name)
            #expect(try await other.string(for: name) == "newer")
        }
    }

    @Test func `Reading the counters while their file is cut and filled ends no process, and shows no old value`() async throws {
        let (storage, other) = (try await open(), try await open())
        for number in 1...300 {
            try await storage.set("\(number)", for: "a")
            #expect(try await other.string(for: "a") == "\(number)")
            truncate("\(path)-changes", off_t(number * 41 % 8300))
            #expect(try await other.string(for: "a") == "\(number)")
        }
    }

    @Test(arguments: [mode_t(0o777), 0o733, 0o702])
    func `A folder in which any user may replace files is refused`(mode: mode_t) async throws {
        let parent = folder.makeFolder("shared", mode: mode)
        for path in ["\(parent)/tokens.db", "\(parent)/below/tokens.db"] {
            let error = await #expect(throws: StorageError.self) {
                try await SQLiteStorage(path: path, keys: [KeyFile(path: "\(folder.path)/key")])
            }
            #expect(error?.code == .permissions && error?.subject == parent, "\(error.map { "\($0)" } ?? "")")
            #expect(error?.remedy == "chmod o-w '\(parent)', or choose another folder")
            let key = await #expect(throws: StorageError.self) {
                try await KeyFile(path: path).key(for: .random(), salt: [], isNew: true)
            }
            #expect(key?.code == .permissions)
        }
        // Like /tmp, where only a file's owner can replace it.
        chmod(parent, mode | 0o1000)
        _ = try await SQLiteStorage(path: "\(parent)/tokens.db", keys: [KeyFile(path: "\(folder.path)/key")])
    }

    @Test(arguments: [
        ("ALTER TABLE entry ADD COLUMN note TEXT", "its table \"entry\" differs from layout 2"),
        ("ALTER TABLE entry RENAME COLUMN sealed TO closed", "its table \"entry\" differs from layout 2"),
        ("DROP TABLE register", "has no table \"register\", which is part of layout 2"),
        ("CREATE VIEW mine AS SELECT * FROM entry", "has an unexpected view \"mine\", which is not part of layout 2"),
        ("CREATE INDEX mine ON entry (version)", "has an unexpected index \"mine\", which is not part of layout 2"),
    ])
    func `Tables that were changed are named`(change: String, problem: String) async throws {
        try await open().set("one", for: "a")
        _ = try Command.python(
            "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(sys.argv[2]); d.commit()", [path, change])
        let error = await #expect(throws: StorageError.self) { try await open() }
        #expect(error?.code == .damaged && error?.problem.hasPrefix(problem) == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `The log of a large change is cut when it has been moved into the database`() async throws {
        let storage = try await open()
        let long = String(repeating: "x", count: 1 << 20)
        try await storage.setAll((0..<16).map { (StorageKey(rawValue: "k\($0)"), Secret(long)) })
        // The next change after moving the log starts a new log.
        for number in 0..<3 { try await storage.set("\(number)", for: "a") }
        var info = stat()
        #expect(lstat("\(path)-wal", &info) == 0 && info.st_size <= 4 << 20, "\(info.st_size)")
    }
}
