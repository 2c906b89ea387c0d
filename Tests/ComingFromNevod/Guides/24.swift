// Authentication Guide: UserDefaults (Development)
// UserDefaults is Sendable on Apple's systems, but not on Linux: hence `nonisolated(unsafe)`.
import Foundation
import NevodHostFoundation

private final class DefaultsDrawer: KeyValueStorage {
    // Any thread may use UserDefaults.
    private nonisolated(unsafe) let defaults: UserDefaults

    init(userDefaults: UserDefaults = .standard) {
        self.defaults = userDefaults
    }

    nonisolated func string(for key: StorageKey) -> String? {
        defaults.string(forKey: key.rawValue)
    }

    nonisolated func data(for key: StorageKey) -> Data? {
        defaults.data(forKey: key.rawValue)
    }

    nonisolated func set(_ value: String?, for key: StorageKey) {
        defaults.set(value, forKey: key.rawValue)
    }

    nonisolated func set(_ value: Data?, for key: StorageKey) {
        defaults.set(value, forKey: key.rawValue)
    }

    nonisolated func remove(for key: StorageKey) {
        defaults.removeObject(forKey: key.rawValue)
    }
}

private func use() async throws {
    print(TokenStorage<Token>(storage: DefaultsDrawer()))
}
