// KeyValueStorage: `KeyValueStorage conformance, 5 sync methods with Data`
import Foundation
import NevodHostFoundation

private final class Drawer: KeyValueStorage {
    // UserDefaults may be used on any thread, but is not Sendable on Linux.
    private nonisolated(unsafe) let defaults = UserDefaults.standard

    nonisolated func string(for key: StorageKey) -> String? { defaults.string(forKey: key.rawValue) }
    nonisolated func data(for key: StorageKey) -> Data? { defaults.data(forKey: key.rawValue) }
    nonisolated func set(_ value: String?, for key: StorageKey) { defaults.set(value, forKey: key.rawValue) }
    nonisolated func set(_ value: Data?, for key: StorageKey) { defaults.set(value, forKey: key.rawValue) }
    nonisolated func remove(for key: StorageKey) { defaults.removeObject(forKey: key.rawValue) }
}

private func use() async throws {
    let storage = TokenStorage<Token>(storage: Drawer())
    print(storage)
}
