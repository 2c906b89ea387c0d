import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct SealingStorageTests {
    private let folder: TemporaryFolder
    private let key: KeyFile

    init() throws {
        folder = try TemporaryFolder()
        key = KeyFile(path: "\(folder.path)/key")
    }

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func `Values are sealed in the base, and opened by another instance`() async throws {
        let base = InMemoryStorage()
        let storage = try await SealingStorage(base, key: key)
        #expect(try await storage.data(for: "a") == nil)
        try await storage.set("secret text", for: "a")
        try await storage.set("", for: "empty")
        let stored = try #require(base.data(for: "a"))
        #expect(!stored.contains(bytes("secret")) && stored.count == 8 + SealingKey.overhead + 11)
        let other = try await SealingStorage(base, key: key)
        #expect(try await other.string(for: "a") == "secret text")
        #expect(try await other.string(for: "empty") == "")
        try await other.remove(for: "a")
        #expect(try await storage.data(for: "a") == nil)
        #expect(base.data(for: "a") == nil)
    }

    /// Like any simple storage, without compare-and-swap and locks.
    private actor Plain: KeyValueStorage {
        private var values: [StorageKey: [UInt8]] = [:]

        func data(for key: StorageKey) -> [UInt8]? { values[key] }
        func set(_ value: [UInt8]?, for key: StorageKey) { values[key] = value }
        func remove(for key: StorageKey) { values[key] = nil }
    }

    @Test func `A base of any kind is sealed`() async throws {
        let storage = try await SealingStorage(Plain(), key: key)
        try await storage.set("1", for: "a")
        #expect(try await !storage.replace(bytes("2"), with: bytes("3"), for: "a"))
        #expect(try await storage.replace(bytes("1"), with: bytes("3"), for: "a"))
        #expect(try await storage.string(for: "a") == "3")
        let ran = Latch()
        try await storage.withRenewalLock(for: "a") { ran.set() }
        await ran.wait()
    }

    @Test func `A value that was changed or moved is refused by name`() async throws {
        let base = InMemoryStorage()
        let storage = try await SealingStorage(base, key: key)
        try await storage.set("one", for: "a")
        try await storage.set("two", for: "b")
        let (a, b) = (try #require(base.data(for: "a")), try #require(base.data(for: "b")))
        var changed = [b, bytes("short"), bytes("plain text that nobody sealed, of some length"), []]
        for index in a.indices {
            var value = a
            value[index] ^= 1
            changed.append(value)
        }
        for value in changed {
            base.set(value, for: "a")
            let error = await #expect(throws: StorageError.self) { try await storage.data(for: "a") }
            #expect(error?.code == .damaged && "\(String(describing: error))".contains("the value of a "))
            await #expect(throws: StorageError.self) { try await storage.replace(bytes("one"), with: nil, for: "a") }
            #expect(base.data(for: "a") == value)
        }
        #expect(try await storage.string(for: "b") == "two")
        // A login overwrites it.
        try await storage.set("new", for: "a")
        #expect(try await storage.string(for: "a") == "new")
    }

    @Test func `Each value has a version of its own`() async throws {
        let base = InMemoryStorage()
        let storage = try await SealingStorage(base, key: key)
        try await storage.set("one", for: "a")
        let first = try #require(base.data(for: "a"))
        try await storage.set("one", for: "a")
        let second = try #require(base.data(for: "a"))
        #expect(first[..<8] == [0, 0, 0, 0, 0, 0, 0, 1] && second[..<8] == [0, 0, 0, 0, 0, 0, 0, 2])
        base.set(Array(first[..<8] + second[8...]), for: "a")
        await #expect(throws: StorageError.self) { try await storage.data(for: "a") }
        base.set([UInt8](repeating: 0xFF, count: 60), for: "a")
        try await storage.set("one", for: "a")
        #expect(try await storage.string(for: "a") == "one")
    }

    @Test func `Another key is refused, and so is a damaged one`() async throws {
        let base = InMemoryStorage()
        let storage = try await SealingStorage(base, key: key)
        try await storage.set("one", for: "a")
        let own = KeyFile(path: "\(folder.path)/other")
        _ = try await SealingStorage(InMemoryStorage(), key: own)
        let error = await #expect(throws: StorageError.self) { try await SealingStorage(base, key: own) }
        #expect(error?.code == .permissions)
        await #expect(throws: StorageError.self) { try await storage.set("mine", for: "nevod.sealing-key") }
        let sealed = try #require(base.data(for: "nevod.sealing-key"))
        for damage in [bytes("x"), [], Array(sealed.dropLast(3)), sealed + bytes(" 00"), [0xFF] + sealed.dropFirst()] {
            base.set(damage, for: "nevod.sealing-key")
            await #expect(throws: StorageError.self) { try await SealingStorage(base, key: key) }
        }
    }

    @Test func `Instances that prepare one base at once use one key`() async throws {
        let (base, key) = (InMemoryStorage(), key)
        let all = try await withThrowingTaskGroup(of: SealingStorage.self) { group in
            for _ in 0..<16 { group.addTask { try await SealingStorage(base, key: key) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await all[0].set("one", for: "a")
        for storage in all { #expect(try await storage.string(for: "a") == "one") }
    }

    @Test func `Compare-and-swap loses no change`() async throws {
        let path = folder.makeFolder("files")
        let first = try await SealingStorage(try FileStorage(directory: path), key: key)
        let second = try await SealingStorage(try FileStorage(directory: path), key: key)
        try await first.set("0", for: "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for storage in [first, second] {
                group.addTask {
                    var count = 0
                    while count < 20 {
                        let old = try await storage.string(for: "a") ?? ""
                        let new = String((Int(old) ?? 0) + 1)
                        if try await storage.replace(Array(old.utf8), with: Array(new.utf8), for: "a") { count += 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await first.string(for: "a") == "40")
    }

    @Test func `The renewal lock and the changes of the base are passed on`() async throws {
        let path = folder.makeFolder("files")
        let first = try await SealingStorage(try FileStorage(directory: path), key: key)
        let second = try FileStorage(directory: path)
        let (held, free, order) = (Latch(), Latch(), Collected<String>())
        async let waiting: Void = first.withRenewalLock(for: "a") {
            held.set()
            await free.wait()
            order.append("sealed")
        }
        await held.wait()
        async let after: Void = second.withRenewalLock(for: "a") { order.append("base") }
        free.set()
        _ = try await (waiting, after)
        #expect(order.values == ["sealed", "base"])

        let base = InMemoryStorage()
        let observed = try await SealingStorage(base, key: key)
        var changes = await observed.changes().makeAsyncIterator()
        try await SealingStorage(base, key: key).set("1", for: "b")
        #expect(await changes.next() == "b")
    }
}
