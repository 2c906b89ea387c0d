/// Stores small values under keys; the base of a `TokenStorage`. (A `TokenStorage`, in contrast, decodes tokens, and knows which
/// of two is newer.)
///
/// Every requirement may suspend and may fail; methods that do neither conform as well. A write that has returned is durable: a
/// crash at any instant leaves the old value or the new one. Methods are called by many tasks at once.
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
    /// The type of its values: `[UInt8]`, or Foundation's `Data`.
    associatedtype Value: RangeReplaceableCollection<UInt8> & Sendable = [UInt8]

    /// Returns nil if nothing is stored under the key. A value that can't be read is an error, since the remedies differ: log in, or
    /// repair the store.
    func string(for key: StorageKey) async throws -> String?
    /// Returns nil if nothing is stored under the key; an empty value is a value.
    func data(for key: StorageKey) async throws -> Value?
    /// Stores a value; nil removes it.
    func set(_ value: String?, for key: StorageKey) async throws
    /// Stores a value; nil removes it.
    func set(_ value: Value?, for key: StorageKey) async throws
    /// Removes the value, if there is one.
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
