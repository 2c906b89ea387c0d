/// Keeps small values under names: what a ``TokenStorage`` stands on. (A `TokenStorage`, in contrast, knows what a token is,
/// and which of two is the newer.)
///
/// Every requirement may suspend and may fail; a conformer whose methods do neither conforms as well. A write that returns
/// has happened: a crash at any instant leaves the old value or the new one. Called by many tasks at once.
///
/// ```swift
/// actor Memory: KeyValueStorage {
///     private var values: [StorageKey: [UInt8]] = [:]
///
///     func data(for key: StorageKey) -> [UInt8]? { values[key] }
///     func set(_ value: [UInt8]?, for key: StorageKey) { values[key] = value }
///     func remove(for key: StorageKey) { values[key] = nil }
/// }
/// ```
public protocol KeyValueStorage: Sendable {
    /// The type of bytes that this storage is written against: `[UInt8]`, or Foundation's `Data`.
    associatedtype Value: RangeReplaceableCollection<UInt8> & Sendable = [UInt8]

    /// Nil: nothing is stored under that key. What can't be read is an error, since the two call for different deeds: log in,
    /// or mend.
    func string(for key: StorageKey) async throws -> String?
    /// Nil: nothing is stored under that key; an empty value is a value.
    func data(for key: StorageKey) async throws -> Value?
    /// Nil removes.
    func set(_ value: String?, for key: StorageKey) async throws
    /// Nil removes.
    func set(_ value: Value?, for key: StorageKey) async throws
    /// No error where there is nothing to remove.
    func remove(for key: StorageKey) async throws
}

extension KeyValueStorage {
    /// The value as UTF-8.
    public func string(for key: StorageKey) async throws -> String? {
        try await data(for: key).map { String(decoding: $0, as: UTF8.self) }
    }

    public func set(_ value: String?, for key: StorageKey) async throws {
        try await set(value.map { Value($0.utf8) }, for: key)
    }
}

/// A storage that can replace a value on the condition that it is still the expected one, in one step that nobody can come
/// between: other tasks, other threads, other processes that use the same storage.
public protocol CompareAndSwapStorage: KeyValueStorage {
    /// - Parameters:
    ///   - expected: nil if nothing is expected to be there.
    ///   - value: takes the place of the expected one; nil removes.
    ///   - key: whose value is compared.
    /// - Returns: whether the value was the expected one, and was replaced.
    func replace(_ expected: Value?, with value: Value?, for key: StorageKey) async throws -> Bool
}

/// A storage that tells when others have changed a value, so that nobody has to look.
public protocol ObservableStorage: KeyValueStorage {
    /// How the keys are told, ``StorageChanges`` for one.
    associatedtype Changes: AsyncSequence<StorageKey, Never> & Sendable

    /// Each key whenever its value has changed, whoever changed it.
    func changes() async -> Changes
}
