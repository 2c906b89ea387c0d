internal import NevodSupport

/// Values that go with the process: for tests, and for credentials that must never be written.
public final class InMemoryStorage: CompareAndSwapStorage {
    private let values = Locked<[StorageKey: Secret]>([:])

    public init() {}

    public func data(for key: StorageKey) -> [UInt8]? {
        values.withLock { $0[key] }.map(Self.bytes)
    }

    public func set(_ value: [UInt8]?, for key: StorageKey) {
        let secret = value.map(Secret.init(copying:))
        values.withLock { $0[key] = secret }
    }

    public func remove(for key: StorageKey) {
        values.withLock { _ = $0.removeValue(forKey: key) }
    }

    public func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) -> Bool {
        let (expected, value) = (expected.map(Secret.init(copying:)), value.map(Secret.init(copying:)))
        return values.withLock { values in
            guard values[key] == expected else { return false }
            values[key] = value
            return true
        }
    }

    private static func bytes(of secret: Secret) -> [UInt8] {
        secret.withUnsafeBytes { Array($0) }
    }
}
