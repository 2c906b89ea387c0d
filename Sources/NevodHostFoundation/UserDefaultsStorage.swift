public import Foundation
public import NevodHost
internal import NevodSupport

/// Values in the user's defaults: for development only. They lie in a plain file that every process of this user can read,
/// goes into backups, and isn't made for secrets; a write that returns may still be lost in a crash. In production use
/// `KeychainStorage` where there is one, or `FileStorage`.
public final class UserDefaultsStorage: KeyValueStorage {
    // Not Sendable on Linux. Foundation guards the values themselves; `lock` keeps this object's calls apart on top of that.
    private nonisolated(unsafe) let defaults: UserDefaults
    private let lock = Locked<Void>(())

    /// - Parameter userDefaults: a suite of its own keeps the tokens of development apart from the rest.
    public init(userDefaults: UserDefaults = .standard) {
        defaults = userDefaults
    }

    /// What was set as data, or as a string by somebody else.
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
