public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// The values of the keys that a ``StorageMigration`` names, which it reads and changes.
public struct StoredValues: Sendable {
    private let original: [StorageKey: Secret]
    private let keys: Set<StorageKey>
    private(set) var current: [StorageKey: Secret]
    /// A key that the step uses without having named it.
    private(set) var unnamed: StorageKey?

    init(_ values: [StorageKey: Secret], of keys: Set<StorageKey>) {
        original = values
        current = values
        self.keys = keys
    }

    /// The value of a key; nil if there is none. Setting nil removes it.
    public subscript(key: StorageKey) -> Secret? {
        get { current[key] }
        set {
            if !keys.contains(key) { unnamed = unnamed ?? key }
            current[key] = newValue
        }
    }

    /// The value of a key as UTF-8; nil if there is none.
    public func string(for key: StorageKey) -> String? {
        current[key].map { $0.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
    }

    /// Stores text as UTF-8; nil removes the value.
    public mutating func set(_ value: String?, for key: StorageKey) {
        self[key] = value.map { Secret($0) }
    }

    /// Those of the values that have changed: what is stored first, then what is removed.
    var changes: [MigrationChange] {
        keys.filter { original[$0] != current[$0] }.sorted { $0.rawValue < $1.rawValue }.map { key in
            MigrationChange(key: key, old: original[key], new: current[key])
        }.sorted { $0.new != nil && $1.new == nil }
    }
}
