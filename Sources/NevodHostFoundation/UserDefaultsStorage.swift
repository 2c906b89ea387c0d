public import Foundation
public import NevodHost
internal import NevodSupport

/// Stores values in the user's defaults: for development only. Defaults are a plain file that all processes of the user can
/// read and that backups include, and a write that has returned may still be lost in a crash. In production use
/// `KeychainStorage` where it is available, or else `FileStorage`.
public final class UserDefaultsStorage: KeyValueStorage {
    // Not Sendable on Linux. Foundation synchronizes access to the values; in addition, `lock` serializes this object's calls.
    private nonisolated(unsafe) let defaults: UserDefaults
    private let lock = Locked<Void>(())

    /// - Parameter userDefaults: use a separate suite to keep the tokens of development apart from other defaults.
    public init(userDefaults: UserDefaults = .standard) {
        defaults = userDefaults
    }

    /// Returns a value that was set as data, or as a string by another program.
    public func data(for key: StorageKey) -> Data? {
        lock.withLock { _ in
            defaults.data(forKey: key.rawValue) ?? defaults.string(forKey: key.rawValue).map { Data($0.utf8) }
        }
    }

    public func set(_ value: Data?, for key: StorageKey) {
        lock.withLock { _ in
            if let value { defaults.set(value, forKey: key.rawValue) } else { defaults.removeObject(forKey: key.rawValue) }
        }
    }

    public func remove(for key: StorageKey) {
        set(nil as Data?, for: key)
    }
}
