internal import NevodSupport

/// The values that a process has read and, while changes are observed, the keys that it has used. Only the values of these keys
/// are reported as changed.
final class KnownSecrets: Sendable {
    private struct Entry {
        let secret: Secret?
        let count: UInt64
    }

    private let cache = Locked(GenerationalCache<StorageKey, Entry>(limit: 4096))
    /// The used keys by the number of their slot; nil while nothing is observed, so that notes cost nothing.
    private let used = Locked<[Int: Set<StorageKey>]?>(nil)

    /// - Parameter count: The count of the key's changes; nil if unknown.
    /// - Returns: nil if the current value isn't cached; an inner nil if nothing is stored.
    func secret(for key: StorageKey, count: UInt64?) -> Secret?? {
        guard let count, let entry = cache.withLock({ $0.value(for: key) }), entry.count == count else { return nil }
        return .some(entry.secret)
    }

    /// - Parameter count: The count of the key's changes before the value was read.
    func remember(_ secret: Secret?, for key: StorageKey, count: UInt64?) {
        if let count { cache.withLock { $0.insert(Entry(secret: secret, count: count), for: key) } }
        note(key)
    }

    func forget(_ key: StorageKey) {
        cache.withLock { $0.removeValue(for: key) }
    }

    func forget() {
        cache.withLock { $0.removeAll() }
    }

    // MARK: Used keys

    func note(_ key: StorageKey) {
        used.withLock { used in
            if used != nil { used?[ChangeCounters.number(of: key), default: []].insert(key) }
        }
    }

    /// Notes the keys of the cached values, and all keys that are used from now on. Cached values are read again when they are
    /// next used.
    func beginNoting() {
        used.withLock { $0 = $0 ?? [:] }
        let keys = cache.withLock { cache in
            defer { cache.removeAll() }
            return cache.keys
        }
        for key in keys { note(key) }
    }

    func endNoting() {
        used.withLock { $0 = nil }
    }

    /// - Parameter slots: nil for all.
    func used(in slots: [Int]?) -> [StorageKey] {
        used.withLock { used in
            guard let used else { return [] }
            return slots.map { $0.flatMap { used[$0].map(Array.init) ?? [] } } ?? used.values.flatMap(\.self)
        }
    }
}
