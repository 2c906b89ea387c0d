import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

struct LayeredStorageTests {
    private let remote = FaultyStorage()
    private let local = FaultyStorage()
    private let events = Collected<String>()
    private let storage: LayeredStorage

    init() {
        let events = events
        storage = LayeredStorage(remote: remote, local: local) { event in
            switch event {
            case .fellBack: events.append("fell back")
            case .recovered: events.append("recovered")
            case .overruled(let key): events.append("overruled \(key)")
            case .wentBack(let key): events.append("went back \(key)")
            case .localFailed(let key, _): events.append("local failed \(key)")
            }
        }
    }

    @Test func `Each fallback and each recovery is reported once`() async throws {
        try await storage.set("one", for: "token")
        remote.fault = .away
        for _ in 0..<3 { #expect(try await storage.string(for: "token") == "one") }
        #expect(storage.isFallenBack)
        try await storage.set("two", for: "token")
        #expect(events.values == ["fell back"])
        remote.fault = .none
        for _ in 0..<3 { #expect(try await storage.string(for: "token") == "two") }
        #expect(!storage.isFallenBack)
        #expect(remote.values["token"] == Array("two".utf8))
        remote.fault = .away
        try await storage.set("three", for: "token")
        remote.change([4])
        remote.fault = .none
        #expect(try await storage.data(for: "token") == [4])
        #expect(events.values == ["fell back", "recovered", "fell back", "recovered", "overruled token"])
    }

    @Test func `An unknown value is an error; a value known to be missing is not`() async throws {
        remote.fault = .away
        await #expect(throws: FaultyStorage.Failure.self) { try await storage.data(for: "token") }
        await #expect(throws: FaultyStorage.Failure.self) { try await storage.replace(nil as Secret?, with: nil, for: "token") }
        remote.fault = .none
        #expect(try await storage.data(for: "token") == nil)
        remote.fault = .away
        #expect(try await storage.data(for: "token") == nil)
        #expect(try await storage.replace(nil, with: [1], for: "token"))
        #expect(try await !storage.replace(nil, with: [2], for: "token"))
        remote.fault = .none
        #expect(try await storage.data(for: "token") == [1])
    }

    @Test func `A read that changes nothing asks each store once, and writes nothing`() async throws {
        try await storage.set([1], for: "token")
        _ = try await storage.data(for: "token")
        let (before, reads) = (local.values, (remote.reads, local.reads))
        local.fault = .refuses
        #expect(try await storage.data(for: "token") == [1])
        #expect((remote.reads, local.reads) == (reads.0 + 1, reads.1 + 1))
        #expect(local.values == before && events.values.isEmpty)
    }

    @Test func `Without a local store the remote one is used alone`() async throws {
        local.fault = .away
        try await storage.set([1], for: "token")
        #expect(try await storage.data(for: "token") == [1])
        #expect(try await storage.replace([1], with: [2], for: "token"))
        #expect(remote.values["token"] == [2])
        #expect(events.values.allSatisfy { $0 == "local failed token" } && !events.values.isEmpty)
        remote.fault = .away
        await #expect(throws: FaultyStorage.Failure.self) { try await storage.set([3], for: "token") }
        await #expect(throws: FaultyStorage.Failure.self) { try await storage.data(for: "token") }
    }

    @Test func `A copy that is known to be outdated is not served`() async throws {
        try await storage.set([1], for: "token")
        local.fault = .refuses
        try await storage.set([2], for: "token")
        remote.fault = .away
        await #expect(throws: FaultyStorage.Failure.self) { try await storage.data(for: "token") }
        remote.fault = .none
        remote.change(nil)
        #expect(try await storage.data(for: "token") == nil)
        remote.fault = .away
        await #expect(throws: FaultyStorage.Failure.self) { try await storage.data(for: "token") }
        (remote.fault, local.fault) = (.none, .none)
        #expect(try await storage.data(for: "token") == nil)
        remote.fault = .away
        #expect(try await storage.data(for: "token") == nil)
    }

    @Test func `A logout whose local copy can't be cleared is no success`() async throws {
        try await storage.set([1], for: "token")
        local.fault = .refuses
        let error = await #expect(throws: StorageError.self) { try await storage.remove(for: "token") }
        #expect(error?.description.contains("its local copy can't be") == true)
        #expect(remote.values["token"] == nil)
        try await storage.set([2], for: "token")
        let replacing = await #expect(throws: StorageError.self) { try await storage.replace([2], with: nil, for: "token") }
        #expect(replacing?.description.contains("its local copy can't be") == true)
    }

    @Test func `A local store that holds something else is left alone`() async throws {
        local.change(Array("a plain token".utf8))
        remote.change([1])
        #expect(try await storage.data(for: "token") == [1])
        try await storage.set([2], for: "token")
        #expect(remote.values["token"] == [2])
        #expect(local.values["token"] == Array("a plain token".utf8))
        remote.fault = .away
        await #expect(throws: FaultyStorage.Failure.self) { try await storage.data(for: "token") }
    }

    @Test func `A login that arrives late, and is cleared there, isn't sent again`() async throws {
        remote.fault = .arrivesLate
        try await storage.set([1], for: "token")
        #expect(remote.values["token"] == [1])
        remote.fault = .none
        remote.change(nil)
        #expect(try await storage.data(for: "token") == nil)
        #expect(remote.values["token"] == nil)
    }

    @Test func `A login that doesn't fit in the remote store is kept until it does`() async throws {
        remote.fault = .refuses
        try await storage.set([1], for: "token")
        for _ in 0..<3 { #expect(try await storage.data(for: "token") == [1]) }
        remote.fault = .none
        #expect(try await storage.data(for: "token") == [1])
        #expect(remote.values["token"] == [1])
    }

    @Test(arguments: [FaultyStorage.Fault.none, .away, .refuses])
    func `Of fifty tasks that replace the same value one succeeds`(fault: FaultyStorage.Fault) async throws {
        try await storage.set([0], for: "token")
        remote.fault = fault
        let storage = storage
        let winners = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 1...50 {
                group.addTask { try await storage.replace([0], with: [UInt8(number)], for: "token") }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(winners == 1)
    }

    @Test func `Two layered stores over the same stores keep each other's writes`() async throws {
        let other = LayeredStorage(remote: remote, local: local)
        remote.fault = .away
        try await storage.remove(for: "token")
        try await storage.set([1], for: "token")
        #expect(try await other.data(for: "token") == [1])
        #expect(try await other.replace([1], with: [2], for: "token"))
        remote.fault = .none
        try await withThrowingTaskGroup { group in
            for storage in [storage, other, storage, other] {
                group.addTask { () async throws -> Void in
                    for _ in 0..<20 { #expect(try await storage.data(for: "token") == [2]) }
                }
            }
            try await group.waitForAll()
        }
        #expect(remote.values["token"] == [2])
    }

    @Test func `Changes of both stores, and own changes, are reported`() async throws {
        let changes = await storage.changes()
        try await storage.set([1], for: "here")
        remote.change([1], for: "there")
        local.change(LayeredCopy.seen(Secret("x")).encoded.withUnsafeBytes { Array($0) }, for: "beside")
        var told: Set<StorageKey> = []
        for await key in changes {
            told.insert(key)
            if told.count == 3 { break }
        }
        #expect(told == ["here", "there", "beside"])
    }

    @Test func `Changes made by a recovery are reported`() async throws {
        try await storage.set([1], for: "token")
        remote.fault = .away
        try await storage.set([2], for: "token")
        remote.change([3])
        let changes = await storage.changes()
        remote.fault = .none
        #expect(try await storage.data(for: "token") == [3])
        for await key in changes {
            #expect(key == "token")
            break
        }
    }

    @Test func `A token storage over a layered store renews, and a logout is not undone`() async throws {
        let tokens = TokenStorage<Token>(storage: storage)
        try await tokens.save(Token(value: "first"))
        remote.fault = .away
        #expect(try await tokens.load()?.value == "first")
        try await tokens.clear()
        #expect(try await tokens.load() == nil)
        remote.fault = .none
        #expect(try await TokenStorage<Token>(storage: LayeredStorage(remote: remote, local: local)).load() == nil)
        #expect(remote.values[.token] == nil)
    }
}
