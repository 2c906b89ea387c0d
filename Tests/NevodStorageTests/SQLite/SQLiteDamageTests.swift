import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// Tests damaged files and failing devices: values are read correctly, or an error reports the problem.
@Suite(.blocking) struct SQLiteDamageTests {
    private static let count = 60

    private let folder: TemporaryFolder
    private let place: Place
    private let key: KeyFile

    /// The store's folder, which changes in each round.
    private final class Place: Sendable {
        let folders: Locked<[String]>
        init(_ first: String) { folders = Locked([first]) }
    }

    init() throws {
        folder = try TemporaryFolder()
        place = Place(folder.path)
        key = KeyFile(path: "\(folder.path)/key")
    }

    private var path: String { "\(place.folders.withLock { $0[$0.count - 1] })/tokens.db" }

    private func open() async throws -> SQLiteStorage { try await SQLiteStorage(path: path, keys: [key]) }

    /// A single wrong bit can turn sealed values of 58 or 122 bytes into NULL.
    private func value(_ number: Int) -> String {
        String(repeating: "\(number % 10)", count: number.isMultiple(of: 2) ? 29 : number.isMultiple(of: 3) ? 93 : 700)
    }

    private func name(_ number: Int) -> StorageKey { StorageKey(rawValue: "key of \(number)") }

    /// The bytes of a store in which every fifth value was removed.
    private func makeStore() async throws -> [UInt8] {
        let storage = try await open()
        for number in 0..<Self.count { try await storage.set(value(number), for: name(number)) }
        for number in stride(from: 0, to: Self.count, by: 5) { try await storage.remove(for: name(number)) }
        try await storage.connection.thread.run { () throws(StorageError) in
            try storage.connection.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        return try contents(of: path)
    }

    private func put(_ bytes: some Sequence<UInt8>) throws {
        for end in ["", "-wal", "-shm"] { unlink(path + end) }
        try folder.write("tokens.db", bytes)
    }

    /// Puts a store into its own folder. The previous store may not be closed yet, and SQLite then removes files beside its path.
    private func putApart(_ bytes: some Sequence<UInt8>, log: [UInt8]? = nil) throws {
        let name = place.folders.withLock { folders in
            let name = "\(folders.count)"
            folders.append(folder.makeFolder(name))
            return name
        }
        try folder.write("\(name)/tokens.db", bytes)
        if let log { try folder.write("\(name)/tokens.db-wal", log) }
    }

    private enum Finding: String {
        case refused, errors, reported, unharmed
    }

    /// Reads the whole store. Present values are correct, and missing ones are reported.
    private func examine(_ what: String) async throws -> Finding {
        let storage: SQLiteStorage
        do { storage = try await open() } catch is StorageError { return .refused }
        var (errors, missing) = (0, 0)
        for number in 0..<Self.count {
            let isThere = !number.isMultiple(of: 5)
            do {
                let found = try await storage.string(for: name(number))
                if isThere, found == nil {
                    missing += 1
                } else {
                    try #require(found == (isThere ? value(number) : nil), "\(what), \(number)")
                }
            } catch let error as StorageError {
                try #require(error.code == .damaged, "\(what), \(number): \(error)")
                errors += 1
            }
        }
        let isReported: Bool
        do { isReported = try await !storage.verify().problems.isEmpty } catch is StorageError { isReported = true }
        try #require(
            errors + missing == 0 || isReported, "\(what): \(errors) errors, \(missing) missing, and verify says nothing")
        return errors > 0 ? .errors : isReported ? .reported : .unharmed
    }

    @Test func `A database that was cut short is refused`() async throws {
        let bytes = try await makeStore()
        let lengths = Array(stride(from: 0, to: bytes.count, by: 4096)) + [1, 15, 16, 99, 100, 512, 4095, 4097, bytes.count - 1]
        for length in lengths {
            try put(bytes.prefix(length))
            let error = await #expect(throws: StorageError.self, "\(length)") {
                let storage = try await open()
                for number in 0..<Self.count { _ = try await storage.string(for: name(number)) }
                let problems = try await storage.verify().problems
                throw StorageError(problems.isEmpty ? .other : .damaged, "", problem: "")
            }
            #expect(error?.code == .damaged, "\(length): \(error.map { "\($0)" } ?? "")")
        }
        try put(bytes)
        #expect(try await examine("whole") == .unharmed)
    }

    /// Each round changes one bit.
    @Test func `A wrong bit is an error, or is reported, or does no harm`() async throws {
        let rounds = Rounds("DAMAGE", default: 250)
        var random = rounds.random
        let bytes = try await makeStore()
        var findings: [Finding: Int] = [:]
        for round in 0..<rounds.count {
            var damaged = bytes
            // A third of them in the first page and a half, where the header and the store's key are.
            let place = Int.random(in: 0..<(round.isMultiple(of: 3) ? 6144 : bytes.count), using: &random)
            let bit = Int.random(in: 0..<8, using: &random)
            damaged[place] ^= 1 << bit
            try putApart(damaged)
            findings[try await examine("round \(round), seed \(rounds.seed), bit \(bit) of \(place)"), default: 0] += 1
        }
        print(findings.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", "))
        #expect((findings[.errors] ?? 0) > 0)
    }

    /// SQLite reads a log up to its first incomplete part, because a crash leaves such a log too.
    @Test func `A wrong bit in a log that a crash has left: each value is the old or the new one, or an error`() async throws {
        let rounds = Rounds("DAMAGE", default: 250)
        var random = rounds.random
        let (bytes, log) = try await makeLog()
        var whole = 0
        for round in -1..<rounds.count / 5 {
            var damaged = log
            if round >= 0 { damaged[.random(in: log.indices, using: &random)] ^= 1 << Int.random(in: 0..<8, using: &random) }
            try putApart(bytes, log: damaged)
            let storage: SQLiteStorage
            do { storage = try await open() } catch let error as StorageError {
                try #require(error.code == .damaged && round >= 0, "round \(round), seed \(rounds.seed): \(error)")
                continue
            }
            var written = 0
            for number in 0..<Self.count {
                let found = try await storage.string(for: name(number))
                let isNew = found == "new \(value(number))"
                try #require(
                    isNew ? written == number : found == (number.isMultiple(of: 5) ? nil : value(number)),
                    "round \(round), seed \(rounds.seed), \(number)")
                written += isNew ? 1 : 0
            }
            let problems = try await storage.verify().problems
            // The count beside the key shows that changes are missing.
            let isReported = problems.count == 1 && problems[0].contains("was turned back")
            #expect(written == Self.count ? problems == [] : isReported, "round \(round), seed \(rounds.seed): \(problems)")
            try #require(round >= 0 || written == Self.count)
            whole += written == Self.count ? 1 : 0
        }
        #expect(rounds.count < 50 || whole <= rounds.count / 10)
    }

    /// Creates a store, and a log of later values that isn't moved into it yet.
    private func makeLog() async throws -> (bytes: [UInt8], log: [UInt8]) {
        let bytes = try await makeStore()
        let storage = try await open()
        for number in 0..<Self.count { try await storage.set("new \(value(number))", for: name(number)) }
        // Another process copies the file, because closing it in this process would drop SQLite's locks.
        _ = try Command.output(["cp", "\(path)-wal", "\(folder.path)/log"])
        withExtendedLifetime(storage) {}
        return (bytes, try contents(of: "\(folder.path)/log"))
    }

    @Test(arguments: ["UPDATE entry SET sealed = x''", "DELETE FROM entry"])
    func `A value that damage has taken away is not taken for one that was removed`(damage: String) async throws {
        let bytes = try await makeStore()
        try put(bytes)
        _ = try Command.python(
            """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            database.execute(sys.argv[2] + " WHERE key = 'key of 1'")
            database.commit()
            """, [path, damage])
        let error = await #expect(throws: StorageError.self) { try await open().string(for: name(1)) }
        let problem = damage.hasPrefix("DELETE") ? "is missing" : "does not open"
        #expect(error?.code == .damaged && error?.description.contains("the value of key of 1 \(problem)") == true)
    }

    @Test(arguments: ["UPDATE entry SET key = 'kei of 1' WHERE key = 'key of 1'", "the index"])
    func `A value that damage has hidden is not taken for one that isn't there`(damage: String) async throws {
        var bytes = try await makeStore()
        if damage == "the index" {
            // Breaks the order of the names, on which lookups depend.
            let name = Array("key of 11".utf8)
            let place = try #require(bytes.indices.first { bytes[$0...].starts(with: name) })
            bytes[place] = UInt8(ascii: "z")
        }
        try put(bytes)
        if damage != "the index" {
            _ = try Command.python(
                """
                import sqlite3, sys
                database = sqlite3.connect(sys.argv[1])
                database.execute(sys.argv[2])
                database.commit()
                """, [path, damage])
        }
        let storage = try await open()
        let hidden = damage == "the index" ? name(11) : name(1)
        let error = await #expect(throws: StorageError.self) { try await storage.string(for: hidden) }
        #expect(error?.code == .damaged)
        #expect(try await storage.string(for: name(2)) == value(2))
        if damage != "the index" {
            #expect(
                error?.description.contains("the value of key of 1 is missing: its row was removed, or moved to another key")
                    == true)
            // Other keys can still be used.
            #expect(try await storage.string(for: "another") == nil)
        }
    }

    @Test func `Where there was a store, none is made anew`() async throws {
        _ = try await makeStore()
        for bytes: [UInt8] in [[], try Self.emptyDatabase()] {
            try put(bytes)
            let error = await #expect(throws: StorageError.self) { try await open() }
            #expect(error?.code == .damaged)
            #expect(
                error?.description.contains(
                    "was a store, and is empty now; stop the programs that use it, and restore it from a backup") == true)
            #expect(try contents(of: path).prefix(bytes.count) == bytes.prefix(bytes.count))
        }
        unlink(path)
        let error = await #expect(throws: StorageError.self) { try await open() }
        #expect(error?.description.contains("remove '\(path)-changes' and '\(path)-wal'") == true)
        // Only the log shows that there was a store.
        unlink("\(path)-changes")
        try folder.write("tokens.db-wal", [1, 2, 3])
        let logged = await #expect(throws: StorageError.self) { try await open() }
        #expect(logged?.code == .damaged)
        #expect(try contents(of: "\(path)-wal") == [1, 2, 3])
        unlink("\(path)-wal")
        unlink("\(path)-changes")
        #expect(try await open().keys() == [])
    }

    private static func emptyDatabase() throws -> [UInt8] {
        let folder = try TemporaryFolder()
        _ = try Command.python(
            "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('VACUUM')", ["\(folder.path)/empty"])
        return try contents(of: "\(folder.path)/empty")
    }

    @Test func `A store that has lost its key gets no other`() async throws {
        let storage = try await open()
        try await storage.set("value", for: "a")
        _ = try Command.python(
            "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute('DELETE FROM store'); d.commit()", [path])
        for open in [{ storage }, { try await self.open() }] as [() async throws -> SQLiteStorage] {
            let error = await #expect(throws: StorageError.self) { try await open().string(for: "b") }
            #expect(error?.code == .damaged)
        }
    }

    @Test func `A file that is no store is left unchanged`() async throws {
        let text = Array("My passwords are elsewhere.\n".utf8)
        try folder.write("tokens.db", text)
        let error = await #expect(throws: StorageError.self) { try await open() }
        #expect(error?.code == .damaged)
        #expect(try contents(of: path) == text)
        unlink(path)
        _ = try Command.python(
            "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE entry (a)')", [path])
        chmod(path, 0o600)
        let foreign = await #expect(throws: StorageError.self) { try await open() }
        #expect(foreign?.description.contains("is another program's database") == true)
        #expect(access("\(path)-changes", F_OK) != 0)
    }

    @Test func `An empty file is no exported store`() async throws {
        let storage = try await open()
        let empty = try folder.write("export", [])
        let error = await #expect(throws: StorageError.self) { try await storage.importValues(from: empty, key: key) }
        #expect(error?.code == .damaged && error?.subject == empty)
        #expect(try contents(of: empty) == [])
    }

    @Test func `Where a file can't grow, the old value stays and the error says what to do`() async throws {
        let storage = try await open()
        try await storage.set("old", for: "token")
        let result = try StorageChild.lastLine(["save", "sqlite:\(folder.path)", "200000", "100000"])
        #expect(result.hasPrefix("full: \(path): "))
        #expect(result.contains("File too large; raise the process's limit on the size of files"))
        #expect(try await storage.string(for: "token") == "old")
        #expect(try await storage.verify().problems == [])
    }

    @Test(.enabled(if: geteuid() == 0)) func `On a full device, the old value stays and the error says what to do`() async throws
    {
        let mount = folder.makeFolder("device")
        guard (try? Command.output(["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "tmpfs", mount])) != nil else { return }
        defer { _ = try? Command.output(["umount", "-l", mount]) }
        let storage = try await SQLiteStorage(path: "\(mount)/tokens.db", keys: [key])
        try await storage.set("old", for: "token")
        let filler = Glibc.open("\(mount)/filler", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let zeros = [UInt8](repeating: 0, count: 4096)
        while write(filler, zeros, zeros.count) > 0 {}
        close(filler)
        let long = String(repeating: "x", count: 100_000)
        let error = await #expect(throws: StorageError.self) { try await storage.set(long, for: "token") }
        #expect(error?.code == .full && error?.remedy == "free some space on its device")
        #expect(try await storage.string(for: "token") == "old")
        #expect(try await storage.verify().problems == [])
        let other = await #expect(throws: StorageError.self) { try await SQLiteStorage(path: "\(mount)/other.db", keys: [key]) }
        #expect(other?.code == .full)
        unlink("\(mount)/filler")
        try await storage.set(long, for: "token")
        #expect(try await storage.string(for: "token") == long)
    }

    @Test func `Where nothing can be written, the error says what to do`() async throws {
        _ = try await makeStore()
        let user: uid_t = geteuid() == 0 ? 65534 : geteuid()
        let names = ["", "/tokens.db", "/tokens.db-changes", "/key"].map { folder.path + $0 }
        for end in ["-wal", "-shm"] { unlink(path + end) }
        for name in names { chown(name, user, 0) }
        defer {
            for name in names { chown(name, geteuid(), 0) }
            chmod(folder.path, 0o700)
        }
        chmod(folder.path, 0o500)
        let folderResult = try StorageChild.lastLine(["save", "sqlite:\(folder.path)", "10", "1000000", "\(user)"])
        #expect(folderResult.hasPrefix("permissions: \(path)"), "\(folderResult)")
        chmod(folder.path, 0o700)
        chmod(path, 0o400)
        let fileResult = try StorageChild.lastLine(["save", "sqlite:\(folder.path)", "10", "1000000", "\(user)"])
        #expect(fileResult.hasPrefix("permissions: \(path)"), "\(fileResult)")
    }
}
