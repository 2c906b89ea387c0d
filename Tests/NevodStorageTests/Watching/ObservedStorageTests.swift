import Glibc
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// What a process sees of other processes' changes. Two objects over one store act like two processes.
@Suite(.blocking) struct ObservedStorageTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    enum Store: CaseIterable, Sendable {
        case files, sqlite, sealedFiles, layers

        func open(_ folder: TemporaryFolder) async throws -> any ObservableStorage & SecretOrBytes {
            let key = KeyFile(path: "\(folder.path)/key")
            switch self {
            case .files: return try FileStorage(directory: "\(folder.path)/files")
            case .sqlite: return try await SQLiteStorage(path: "\(folder.path)/s.db", keys: [key])
            case .sealedFiles: return try await SealingStorage(FileStorage(directory: "\(folder.path)/sealed"), key: key)
            case .layers:
                return LayeredStorage(
                    remote: try await SQLiteStorage(path: "\(folder.path)/remote.db", keys: [key]),
                    local: try FileStorage(directory: "\(folder.path)/local"))
            }
        }
    }

    private func collect(_ storage: any ObservableStorage) async -> (Collected<StorageKey>, Task<Void, Never>) {
        let seen = Collected<StorageKey>()
        func read(_ storage: some ObservableStorage) async -> Task<Void, Never> {
            let changes = await storage.changes()
            return Task { for await key in changes { seen.append(key) } }
        }
        return (seen, await read(storage))
    }

    private static let keys: [StorageKey] = [
        "token", "", "Ünï.code", StorageKey(rawValue: String(repeating: "long", count: 100)),
    ]

    @Test(arguments: Store.allCases) func `Changes by another process are reported, of every kind of key`(store: Store)
        async throws
    {
        let (storage, other) = (try await store.open(folder), try await store.open(folder))
        for key in Self.keys { _ = try await storage.bytes(for: key) }
        let (seen, reading) = await collect(storage)
        defer { reading.cancel() }
        for key in Self.keys {
            try await other.store([1], for: key)
            #expect(await eventually { seen.values.contains(key) }, "\(key)")
        }
        for key in Self.keys {
            let count = seen.values.filter { $0 == key }.count
            try await other.store(nil, for: key)
            #expect(await eventually { seen.values.filter { $0 == key }.count > count }, "\(key)")
        }
        // Its own changes are also reported.
        try await storage.store([2], for: "own")
        #expect(await eventually { seen.values.contains("own") })
        for key in Self.keys { #expect(try await storage.bytes(for: key) == nil) }
    }

    @Test func `A folder that is restored reports the keys before and after`() async throws {
        let path = folder.makeFolder("files")
        let storage = try FileStorage(directory: path)
        try await storage.set([1], for: "lost")
        let backup = try FileStorage(directory: folder.makeFolder("backup"))
        try await backup.set([2], for: "restored")
        let (seen, reading) = await collect(storage)
        defer { reading.cancel() }
        #expect(rename(path, "\(path)-old") == 0)
        #expect(rename("\(folder.path)/backup", path) == 0)
        #expect(await eventually { seen.values.contains("lost") && seen.values.contains("restored") })
        #expect(try await storage.data(for: "restored") == [2])
    }

    @Test func `A store whose counters are removed reports every key that was used`() async throws {
        let (storage, other) = (try await Store.sqlite.open(folder), try await Store.sqlite.open(folder))
        try await storage.store([1], for: "token")
        #expect(try await storage.bytes(for: "token") == [1])
        let (seen, reading) = await collect(storage)
        defer { reading.cancel() }
        unlink("\(folder.path)/s.db-changes")
        #expect(await eventually { seen.values.contains("token") })
        try await other.store([2], for: "token")
        let count = seen.values.count
        try await other.store([3], for: "token")
        #expect(await eventually { seen.values.count > count })
        #expect(try await storage.bytes(for: "token") == [3])
    }

    @Test func `A process that observes nothing has no watch, and one that stops has none left`() async throws {
        let watcher = FolderWatcher.shared
        let storage = try FileStorage(directory: folder.makeFolder("files"))
        _ = try await storage.data(for: "token")
        try await storage.set([1], for: "token")
        #expect(watches(of: "\(folder.path)/files") == 0)
        let (_, reading) = await collect(storage)
        let (_, again) = await collect(storage)
        #expect(watches(of: "\(folder.path)/files") == 1)
        reading.cancel()
        again.cancel()
        #expect(await eventually { watches(of: "\(folder.path)/files") == 0 })
        // It doesn't keep the store alive either.
        weak var released: FileStorage?
        do {
            let storage = try FileStorage(directory: "\(folder.path)/files")
            released = storage
            let changes = storage.changes()
            #expect(watches(of: "\(folder.path)/files") == 1)
            withExtendedLifetime(changes) {}
        }
        #expect(await eventually { released == nil && watches(of: "\(folder.path)/files") == 0 })
        withExtendedLifetime(watcher) {}
    }

    /// From the kernel's reports.
    private func watches(of path: String) -> Int {
        var info = stat()
        guard stat(path, &info) == 0 else { return -1 }
        let inode = "ino:\(String(info.st_ino, radix: 16)) "
        let listing =
            (try? Command.output(["bash", "-c", "cat /proc/\(getpid())/fdinfo/* 2>/dev/null | grep ^inotify || true"])) ?? ""
        return listing.split(separator: "\n").filter { $0.contains(inode) }.count
    }

    @Test(.timeLimit(.minutes(10)), arguments: [false, true])
    func `Processes that change values at random all show what is stored`(
        isDatabase: Bool
    ) async throws {
        let rounds = Rounds("OBSERVE", default: isDatabase ? 60 : 40)
        let (processes, keys) = (6, 5)
        let path = folder.makeFolder("store")
        let storage: any ObservableStorage & SecretOrBytes =
            isDatabase
            ? try await SQLiteStorage(path: "\(path)/tokens.db", keys: [KeyFile(path: "\(path)/key")])
            : try FileStorage(directory: path)
        let children = try (0..<processes).map { number in
            try StorageChild.spawn([
                "observe", (isDatabase ? "sqlite:" : "") + path, "\(keys)", "\(rounds.count)",
                "\(UInt32(truncatingIfNeeded: rounds.seed &+ UInt64(number)))",
            ])
        }
        let shown = Shown(processes)
        for (number, (_, pipe)) in children.enumerated() {
            SystemThread.start {
                let reader = LineReader(pipe)
                while let line = reader.next() { shown.take(line, of: number) }
            }
        }
        defer {
            for (pid, pipe) in children {
                kill(pid, SIGKILL)
                Command.wait(for: pid)
                close(pipe)
            }
        }
        #expect(await eventually { shown.done == processes })
        var stored: [Int: String] = [:]
        for key in 0..<keys {
            let token = TokenStorage<Token>(storage: storage, key: StorageKey(rawValue: "token-\(key)"))
            stored[key] = try await token.load()?.value ?? "-"
        }
        let isShown = await eventually {
            (0..<processes).allSatisfy { number in stored.allSatisfy { shown.value($0.key, of: number) == $0.value } }
        }
        #expect(isShown, "seed \(rounds.seed): stored \(stored), shown \(shown.all)")
    }
}

/// The output of a test's processes.
private final class Shown: Sendable {
    private let state: Locked<(values: [[Int: String]], done: Int)>

    init(_ count: Int) {
        state = Locked((Array(repeating: [:], count: count), 0))
    }

    var done: Int { state.withLock { $0.done } }
    var all: [[Int: String]] { state.withLock { $0.values } }
    func value(_ key: Int, of number: Int) -> String { state.withLock { $0.values[number][key] ?? "-" } }

    func take(_ line: String, of number: Int) {
        let words = line.split(separator: " ").map(String.init)
        state.withLock { state in
            if words.first == "done" { state.done += 1 }
            if words.first == "show", words.count == 3, let key = Int(words[1]) { state.values[number][key] = words[2] }
        }
    }
}

/// Test stores take bytes under one name.
protocol SecretOrBytes: KeyValueStorage where Value == [UInt8] {}
extension SecretOrBytes {
    func bytes(for key: StorageKey) async throws -> [UInt8]? { try await data(for: key) }
    func store(_ value: [UInt8]?, for key: StorageKey) async throws { try await set(value, for: key) }
}
extension FileStorage: SecretOrBytes {}
extension SQLiteStorage: SecretOrBytes {}
extension SealingStorage: SecretOrBytes {}
extension LayeredStorage: SecretOrBytes {}
