public import NevodHost

/// One step between two formats of what an app stores, forward and back.
///
/// ```swift
/// let step = StorageMigration(from: 2, to: 3, keys: ["name", "title"]) { values in
///     values.set(values.string(for: "name").map { "Dr. \($0)" }, for: "title")
/// }
/// ```
public struct StorageMigration: Sendable {
    /// Changes the values of the step's keys. It may be called several times, and must do nothing else.
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
    ///   - forward: makes the later format of the earlier one. If it throws, nothing is changed.
    ///   - back: makes the earlier format of the later one; nil if there is no way back.
    public init(
        from: Int, to: Int, keys: Set<StorageKey>, forward: @escaping Change, back: Change? = nil
    ) {
        self.from = from
        self.to = to
        self.keys = keys
        self.forward = forward
        self.back = back
    }

    /// A step that gives values other keys, each of which must have none. It goes back too.
    ///
    /// - Parameters:
    ///   - from: the format before the step.
    ///   - to: the format after it.
    ///   - names: the later key of each earlier one. A value that is missing is left out.
    public static func renaming(from: Int, to: Int, _ names: [StorageKey: StorageKey]) -> StorageMigration {
        let change = { @Sendable (names: [(StorageKey, StorageKey)]) -> Change in
            { values in
                // Read first: one value's later key may be another one's earlier key.
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
