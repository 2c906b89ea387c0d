import NevodHost

/// A storage in memory whose operations a test can block.
final class HeldStorage: CompareAndSwapStorage, ObservableStorage {
    enum Operation: Sendable {
        case read, store, subscribe
    }

    private let base: InMemoryStorage
    private let before: @Sendable (Operation) async -> Void

    /// - Parameters:
    ///   - base: has the values. Two storages over one base act like two processes.
    ///   - before: awaited before each operation except removals.
    init(_ base: InMemoryStorage = InMemoryStorage(), before: @escaping @Sendable (Operation) async -> Void) {
        self.base = base
        self.before = before
    }

    func data(for key: StorageKey) async throws -> [UInt8]? {
        await before(.read)
        return base.data(for: key)
    }

    func set(_ value: [UInt8]?, for key: StorageKey) async throws {
        if value != nil { await before(.store) }
        base.set(value, for: key)
    }

    func remove(for key: StorageKey) async throws {
        base.remove(for: key)
    }

    func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) async throws -> Bool {
        if value != nil { await before(.store) }
        return base.replace(expected, with: value, for: key)
    }

    func changes() async -> StorageChanges {
        await before(.subscribe)
        return base.changes()
    }
}
