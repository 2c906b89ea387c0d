public import NevodHost
internal import NevodStorage
internal import NevodSupport

/// One step between two formats of an app's stored values, forward and back.
///
/// ```swift
/// let step = StorageMigration(from: 2, to: 3, keys: ["name", "title"]) { values in
///     values.set(values.string(for: "name").map { "Dr. \($0)" }, for: "title")
/// }
/// ```
public struct StorageMigration: Sendable {
    /// Changes the values of the step's keys. It may be called several times, so it must have no other effect.
    public typealias Change = @Sendable (inout StoredValues) throws -> Void

    /// The format before the step.
    public let from: Int
    /// The format after it: a higher number.
    public let to: Int
    let keys: Set<StorageKey>
    let forward: Change
    let back: Change?

    /// - Parameters:
    ///   - from: the format before the step.
    ///   - to: the format after it.
    ///   - keys: the keys whose values the step reads or changes.
    ///   - forward: turns the earlier format into the later one. If it throws, nothing is changed.
    ///   - back: turns the later format into the earlier one; nil if there is no way back.
    public init(
        from: Int, to: Int, keys: Set<StorageKey>, forward: @escaping Change, back: Change? = nil
    ) {
        self.from = from
        self.to = to
        self.keys = keys
        self.forward = forward
        self.back = back
    }

    /// A step that moves values to other keys, which must be free. It also works backward.
    ///
    /// - Parameters:
    ///   - from: the format before the step.
    ///   - to: the format after it.
    ///   - names: the new key for each old key. A missing value is skipped.
    public static func renaming(from: Int, to: Int, _ names: [StorageKey: StorageKey]) -> StorageMigration {
        let change = { @Sendable (names: [(StorageKey, StorageKey)]) -> Change in
            { values in
                // Reads all values first: one value's new key may be another value's old key.
                let moved = names.map { (values[$0.0], $0) }.filter { $0.0 != nil }
                for (_, name) in moved { values[name.0] = nil }
                for (value, name) in moved { values[name.1] = value }
            }
        }
        return StorageMigration(
            from: from, to: to, keys: Set(names.keys).union(names.values), forward: change(names.map { ($0.key, $0.value) }),
            back: change(names.map { ($0.value, $0.key) }))
    }
}

/// The values of a ``StorageMigration``'s keys, which the step reads and changes.
public struct StoredValues: Sendable {
    private let original: [StorageKey: Secret]
    private let keys: Set<StorageKey>
    private(set) var current: [StorageKey: Secret]
    /// A key that the step sets although it isn't among the step's keys.
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

    /// The values that have changed: first the ones to store, then the ones to remove.
    var changes: [MigrationChange] {
        keys.filter { original[$0] != current[$0] }.sorted { $0.rawValue < $1.rawValue }.map { key in
            MigrationChange(key: key, old: original[key], new: current[key])
        }.sorted { $0.new != nil && $1.new == nil }
    }
}
