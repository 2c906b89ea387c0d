internal import NevodSupport

/// Keeps values in memory until the process ends: for tests, and for credentials that must never be written to a device.
public final class InMemoryStorage: CompareAndSwapStorage, ObservableStorage {
    private let values = Locked<[StorageKey: Secret]>([:])
    private let observers = StorageObservers()

    /// Creates an empty storage; two instances share nothing.
    public init() {}

    public func data(for key: StorageKey) -> [UInt8]? {
        values.withLock { $0[key] }.map(Self.bytes)
    }

    public func set(_ value: [UInt8]?, for key: StorageKey) {
        let secret = value.map(Secret.init(copying:))
        let old = values.withLock { values in
            defer { values[key] = secret }
            return values[key]
        }
        if old != secret { observers.notify(key) }
    }

    public func remove(for key: StorageKey) {
        set(nil, for: key)
    }

    public func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) -> Bool {
        let (expected, value) = (expected.map(Secret.init(copying:)), value.map(Secret.init(copying:)))
        let isReplaced = values.withLock { values in
            guard values[key] == expected else { return false }
            values[key] = value
            return true
        }
        if isReplaced, value != expected { observers.notify(key) }
        return isReplaced
    }

    /// The key of each value that this process changes from now on.
    public func changes() -> StorageChanges {
        observers.changes()
    }

    private static func bytes(of secret: Secret) -> [UInt8] {
        secret.withUnsafeBytes { Array($0) }
    }
}
