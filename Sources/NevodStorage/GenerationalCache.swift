/// A dictionary of limited size. It suits a program with millions of users, few of whom are active at once. It has two
/// generations. When the young one is full, it becomes the old one, and the old entries that were not used meanwhile are dropped.
package struct GenerationalCache<Key: Hashable, Value> {
    private let limit: Int
    private var young: [Key: Value] = [:]
    private var old: [Key: Value] = [:]
    /// How many times entries were dropped.
    package private(set) var drops: UInt64 = 0

    /// - Parameter limit: The largest number of entries.
    package init(limit: Int) {
        self.limit = limit
    }

    package var keys: [Key] { Array(young.keys) + Array(old.keys) }

    /// Returns nil if there is no entry. Reading an entry counts as using it, and may drop others.
    package mutating func value(for key: Key) -> Value? {
        if let value = young[key] { return value }
        guard let value = old[key] else { return nil }
        insert(value, for: key)
        return value
    }

    /// Adds or replaces an entry.
    package mutating func insert(_ value: Value, for key: Key) {
        if young.count >= limit / 2, young[key] == nil {
            (old, young) = (young, [:])
            drops += 1
        }
        young[key] = value
        old[key] = nil
    }

    package mutating func removeValue(for key: Key) {
        young[key] = nil
        old[key] = nil
    }

    package mutating func removeAll() {
        (old, young) = ([:], [:])
    }

    /// Replaces every value, and keeps the keys.
    package mutating func mapValues(_ transform: (Value) -> Value) {
        young = young.mapValues(transform)
        old = old.mapValues(transform)
    }
}

extension GenerationalCache: Sendable where Key: Sendable, Value: Sendable {}
