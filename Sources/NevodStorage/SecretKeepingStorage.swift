public import NevodSupport

/// A storage that hands out and takes what it keeps without a copy in memory that nobody wipes.
public protocol SecretKeepingStorage: CompareAndSwapStorage where Value == [UInt8] {
    /// Nil: nothing is stored under that key.
    func secret(for key: StorageKey) async throws -> Secret?
    /// Nil removes.
    func set(_ secret: Secret?, for key: StorageKey) async throws
    /// As ``CompareAndSwapStorage/replace(_:with:for:)``.
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
