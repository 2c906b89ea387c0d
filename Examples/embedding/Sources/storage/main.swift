// The examples of Docs/storage.md. Usage: storage FOLDER, with an absolute path.
import NevodHost

let folder = CommandLine.arguments.dropFirst().first ?? "state"

extension StorageKey {
    static let session: StorageKey = "com.example.session"
}

actor Vault: KeyValueStorage {
    private var values: [StorageKey: [UInt8]] = [:]

    func data(for key: StorageKey) -> [UInt8]? { values[key] }
    func set(_ value: [UInt8]?, for key: StorageKey) { values[key] = value }
    func remove(for key: StorageKey) { values[key] = nil }
}

final class Shared: CompareAndSwapStorage {
    private let vault: FileStorage

    init(_ vault: FileStorage) { self.vault = vault }

    func data(for key: StorageKey) async throws -> [UInt8]? { try await vault.data(for: key) }
    func set(_ value: [UInt8]?, for key: StorageKey) async throws { try await vault.set(value, for: key) }
    func remove(for key: StorageKey) async throws { try await vault.remove(for: key) }

    func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) async throws -> Bool {
        try await vault.replace(expected, with: value, for: key)
    }
}

/// A store in a network that may be unreachable.
actor Cloud: KeyValueStorage {
    struct Away: Error {}

    private var values: [StorageKey: [UInt8]] = [:]
    var isAway = false

    func setAway(_ isAway: Bool) { self.isAway = isAway }

    func data(for key: StorageKey) throws -> [UInt8]? {
        if isAway { throw Away() }
        return values[key]
    }

    func set(_ value: [UInt8]?, for key: StorageKey) throws {
        if isAway { throw Away() }
        values[key] = value
    }

    func remove(for key: StorageKey) throws { try set(nil, for: key) }
}

func keepsItsWord<Storage: CompareAndSwapStorage>(_ storage: Storage) async throws -> Bool where Storage.Value == [UInt8] {
    try await storage.remove(for: .session)
    let isAdded = try await storage.replace(nil, with: [1], for: .session)
    let isMistaken = try await storage.replace([9], with: [2], for: .session)
    let isReplaced = try await storage.replace([1], with: [2], for: .session)
    let value = try await storage.data(for: .session)
    return isAdded && !isMistaken && isReplaced && value == [2]
}

let storage = try FileStorage(directory: folder)
try await storage.set("abc123", for: .session)
print(try await storage.string(for: .session) ?? "nothing")

let counter: StorageKey = "com.example.counter"
var isCounted = false
while !isCounted {
    let old = try await storage.data(for: counter)
    isCounted = try await storage.replace(old, with: [(old?.first ?? 0) &+ 1], for: counter)
}

do {
    try await storage.set([UInt8](repeating: 0, count: 2 << 20), for: .session)
} catch {
    print("\(error.code): \(error)")
}

let memory = InMemoryStorage()
let changes = memory.changes()
memory.set([1], for: .session)
for await key in changes {
    print("\(key) has changed")
    break
}

let vault = Vault()
try await vault.set("x", for: .session)
print(try await keepsItsWord(memory), try await keepsItsWord(Shared(storage)))

let sealed = try await SQLiteStorage(path: "\(folder)/tokens.db", keys: [KeyFile(path: "\(folder)/keys/tokens.key")])
try await sealed.set("abc123", for: .session)
print(try await sealed.string(for: .session) ?? "nothing", sealed.keyKind)

try await sealed.rekey(KeyFile(path: "\(folder)/keys/next.key"))
try await sealed.export(to: "\(folder)/tokens.export", key: Passphrase { _ in Secret("correct horse") })
print(try await sealed.verify().problems.isEmpty)

let cloud = Cloud()
let layered = LayeredStorage(remote: cloud, local: try FileStorage(directory: "\(folder)/copy")) { event in
    print(event)
}
try await layered.set("everywhere", for: .session)
await cloud.setAway(true)
print(try await layered.string(for: .session) ?? "nothing")
try await layered.remove(for: .session)
await cloud.setAway(false)
print(try await layered.string(for: .session) ?? "nothing", try await cloud.string(for: .session) ?? "nothing")
