public import NevodSupport

/// A storage that returns and takes its values as secrets, without copies in memory that are never wiped.
public protocol SecretKeepingStorage: CompareAndSwapStorage where Value == [UInt8] {
    /// Returns nil if nothing is stored under the key.
    func secret(for key: StorageKey) async throws -> Secret?
    /// Stores a secret; nil removes it.
    func set(_ secret: Secret?, for key: StorageKey) async throws
    /// Like ``CompareAndSwapStorage/replace(_:with:for:)``.
    func replace(_ expected: Secret?, with secret: Secret?, for key: StorageKey) async throws -> Bool
}

extension SecretKeepingStorage {
    public func data(for key: StorageKey) async throws -> [UInt8]? {
        try await secret(for: key).map { $0.copied(as: [UInt8].self) }
    }

    public func set(_ value: [UInt8]?, for key: StorageKey) async throws {
        try await set(value.map { Secret(copying: $0) }, for: key)
    }

    public func remove(for key: StorageKey) async throws {
        try await set(nil as Secret?, for: key)
    }

    public func replace(_ expected: [UInt8]?, with value: [UInt8]?, for key: StorageKey) async throws -> Bool {
        try await replace(expected.map { Secret(copying: $0) }, with: value.map { Secret(copying: $0) }, for: key)
    }
}
