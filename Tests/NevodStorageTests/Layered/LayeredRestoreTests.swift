import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodStorage

/// The remote store is restored from a backup while a machine has a newer copy.
@Suite(.blocking) struct LayeredRestoreTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func remote(_ name: String = "remote") async throws -> SQLiteStorage {
        try await SQLiteStorage(path: "\(folder.path)/\(name)/tokens.db", keys: [KeyFile(path: "\(folder.path)/key")])
    }

    /// Another remote store with the backup's contents. Its values are as old as the backup.
    private func restored(_ name: String, _ values: [String?]) async throws -> SQLiteStorage {
        let storage = try await remote(name)
        for value in values { try await storage.set(value, for: "token") }
        return storage
    }

    private func layered(_ remote: SQLiteStorage, _ events: Collected<String> = Collected()) throws -> LayeredStorage {
        LayeredStorage(remote: remote, local: try FileStorage(directory: folder.makeFolder("local"))) { events.append("\($0)") }
    }

    @Test func `An older token doesn't come back with a restored remote store, and the newer one is sent again`() async throws {
        let before = try layered(try await remote())
        for value in ["1", "2", "3"] { try await before.set(value, for: "token") }
        let (store, events) = (try await restored("old", ["1"]), Collected<String>())
        let after = try layered(store, events)
        #expect(try await after.string(for: "token") == "3")
        #expect(try await store.string(for: "token") == "3")
        #expect(events.values.count == 1 && events.values.first?.contains("older value") == true)
        // From now on, it is a store like any other, although its numbers are lower.
        try await store.set("login elsewhere", for: "token")
        #expect(try await after.string(for: "token") == "login elsewhere")
        #expect(events.values.count == 1)
    }

    @Test func `A cleared token doesn't come back with a restored remote store`() async throws {
        let before = try layered(try await remote())
        for value in ["1", "2", nil] as [String?] { try await before.set(value, for: "token") }
        let store = try await restored("old", ["1", "2"])
        let after = try layered(store)
        #expect(try await after.string(for: "token") == nil)
        #expect(try await store.string(for: "token") == nil)
    }

    @Test func `A token that waits to be sent outlasts a restored remote store`() async throws {
        let shared = try await remote()
        let before = try layered(shared)
        try await before.set("1", for: "token")
        try await shared.set("2", for: "token")
        #expect(try await before.string(for: "token") == "2")
        // Recorded while the remote store was unreachable.
        let local = try FileStorage(directory: folder.makeFolder("local"))
        let copy = try await local.data(for: "token").map { try LayeredCopy(Secret(copying: $0), for: "token") }
        try await local.set(
            LayeredCopy.recording(Secret("3"), over: copy).encoded.withUnsafeBytes { Array($0) }, for: "token")
        #expect(try await layered(try await restored("old", ["1"])).string(for: "token") == "3")
    }

    @Test func `The same value in a restored store doesn't hide a login that follows`() async throws {
        let before = try layered(try await remote())
        for value in ["1", "2", "3"] { try await before.set(value, for: "token") }
        let store = try await restored("old", ["3"])
        let after = try layered(store)
        #expect(try await after.string(for: "token") == "3")
        try await store.set("4", for: "token")
        #expect(try await after.string(for: "token") == "4")
        try await store.remove(for: "token")
        #expect(try await after.string(for: "token") == nil)
    }
}
