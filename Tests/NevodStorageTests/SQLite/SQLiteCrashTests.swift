import Glibc
import NevodStorage
import NevodTestSupport
import Testing

/// Tests processes that are killed while they write.
@Suite(.blocking) struct SQLiteCrashTests {
    private let folder: TemporaryFolder
    private let path: String
    private let key: KeyFile
    private let rounds = Rounds("CRASH", default: 40)

    init() throws {
        folder = try TemporaryFolder()
        path = "\(folder.path)/tokens.db"
        key = KeyFile(path: "\(folder.path)/key")
    }

    private func open(_ schema: SQLiteSchema = .current) async throws -> SQLiteStorage {
        try await SQLiteStorage(path: path, keys: [key], schema: schema, mustExist: false)
    }

    /// Returns the lines that a child printed until it was killed, some time after its first line.
    private func killed(
        _ arguments: [String], after microseconds: UInt32, environment: [String] = []
    ) throws -> [String] {
        let (pid, pipe) = try StorageChild.spawn(arguments, environment: environment)
        let reader = LineReader(pipe)
        let first = reader.next()
        usleep(microseconds)
        kill(pid, SIGKILL)
        let lines = [first].compactMap(\.self) + reader.rest()
        close(pipe)
        Command.wait(for: pid)
        return lines
    }

    private func number(_ letter: String, _ lines: [String]) -> Int? {
        lines.last { $0.hasPrefix("\(letter) ") }.flatMap { Int($0.dropFirst(2)) }
    }

    @Test func `A process that is killed while it saves leaves the old value or the new one`() async throws {
        var random = rounds.random
        var done = 0
        for round in 0..<rounds.count {
            let lines = try killed(["alternate", "sqlite:\(folder.path)"], after: random.next(upperBound: 15_000))
            let started = number("s", lines) ?? done
            done = number("d", lines) ?? done
            try #require(started == done || started == done + 1, "round \(round), seed \(rounds.seed): \(lines.suffix(3))")
            let storage = try await open()
            let value = try await storage.data(for: "token")
            let isOld = value == (done == 0 ? nil : StorageChild.value(done))
            try #require(
                isOld || value == StorageChild.value(started),
                "round \(round), seed \(rounds.seed): neither \(done) nor \(started)")
            if !isOld { done = started }
            let found = try await storage.verify()
            try #require(
                found.problems == [] && found.values == (value == nil ? 0 : 1), "round \(round), seed \(rounds.seed): \(found)")
        }
        print("\(done) values saved")
        #expect(done > 0)
    }

    @Test func `A process that is killed while it makes the store leaves none, or one that opens`() async throws {
        var random = rounds.random
        for round in 0..<rounds.count {
            let place = folder.makeFolder("\(round)")
            // In every other round, the key exists before the store.
            let source = KeyFile(path: "\(place)/key")
            if round.isMultiple(of: 2) { _ = try await source.key(for: .random(), salt: [], isNew: true) }
            let (pid, pipe) = try StorageChild.spawn(["alternate", "sqlite:\(place)"])
            usleep(random.next(upperBound: 25_000))
            kill(pid, SIGKILL)
            Command.wait(for: pid)
            close(pipe)
            let found = try await SQLiteStorage(path: "\(place)/tokens.db", keys: [source]).verify()
            try #require(found.problems == [], "round \(round), seed \(rounds.seed): \(found)")
        }
    }

    @Test func `A process that is killed while it gives a store another key leaves all values readable`() async throws {
        for number in 0..<300 { try await open().set("value \(number)", for: StorageKey(rawValue: "k\(number)")) }
        let keys: [any StoreKeySource] = [key, EnvironmentKey(variable: "NEVOD_CHILD_KEY")]
        let other = String(repeating: "5a", count: 32)
        setenv("NEVOD_CHILD_KEY", other, 1)
        var random = rounds.random
        for round in 0..<rounds.count / 4 {
            let lines = try killed(
                ["rekey", "sqlite:\(folder.path)"], after: random.next(upperBound: 40_000),
                environment: ["NEVOD_CHILD_KEY=\(other)"])
            try #require(!lines.isEmpty && lines.allSatisfy { $0.hasPrefix("s ") || $0.hasPrefix("d ") }, "\(lines)")
            let storage = try await SQLiteStorage(path: path, keys: keys)
            let found = try await storage.verify()
            try #require(found.problems == [] && found.values == 300, "round \(round), seed \(rounds.seed): \(found)")
            #expect(try await storage.string(for: "k299") == "value 299")
        }
    }

    @Test func `A process that is killed while it brings a store to a later layout leaves it in one of both`() async throws {
        var storage: SQLiteStorage? = try await open()
        for number in 0..<300 { try await storage?.set("value \(number)", for: StorageKey(rawValue: "k\(number)")) }
        storage = nil
        // The last connection to close moves the log into the file, perhaps a little later.
        let log = "\(path)-wal"
        try #require(await eventually { access(log, F_OK) != 0 })
        let original = try contents(of: path)
        let next = SQLiteSchema(steps: SQLiteSchema.current.steps + ["ALTER TABLE entry ADD COLUMN note TEXT"])
        var random = rounds.random
        for round in 0..<rounds.count / 4 {
            // A separate folder, because the last round's store may not be closed yet.
            let place = folder.makeFolder("\(round)")
            try folder.write("\(round)/tokens.db", original)
            link("\(folder.path)/key", "\(place)/key")
            _ = try killed(["migrate", "sqlite:\(place)"], after: random.next(upperBound: 15_000))
            let path = "\(place)/tokens.db"
            let found = try await SQLiteStorage(path: path, keys: [key], schema: next, mustExist: true).verify()
            try #require(found.problems == [] && found.values == 300, "round \(round), seed \(rounds.seed): \(found)")
            let copy = try await SQLiteStorage(path: "\(path).layout-2", keys: [key], mustExist: true).verify()
            try #require(copy.problems == [] && copy.values == 300, "round \(round), seed \(rounds.seed): \(copy)")
            #expect(access("\(path).layout-2.new", F_OK) != 0)
        }
    }

    @Test func `Eight processes that make a store and count in it lose nothing`() async throws {
        let children = try (0..<8).map { _ in try StorageChild.spawn(["count", "sqlite:\(folder.path)", "25"]) }
        for (pid, pipe) in children {
            #expect(LineReader(pipe).rest() == ["ok"])
            close(pipe)
            Command.wait(for: pid)
        }
        #expect(try await open().string(for: "token") == "200")
    }
}
