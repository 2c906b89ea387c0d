import Foundation
import NevodHostFoundation

/// A store for development. (NevodHostFoundation has one of this name; a program's own type takes precedence.)
final class UserDefaultsStorage: KeyValueStorage {
    // UserDefaults is thread-safe, although Foundation on Linux doesn't declare it Sendable.
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
