internal import NevodSupport

/// The values that a process has read, and, while changes are observed, the keys that it has used: whatever may have changed is a value
/// of one of these.
final class KnownSecrets: Sendable {
    private let cache = Locked(SecretCache())
    /// By the number of their slot; nil while nothing is observed, which then costs nothing.
    private let used = Locked<[Int: Set<StorageKey>]?>(nil)

    func secret(for key: StorageKey, count: @autoclosure () -> UInt64?) -> Secret?? {
        let count = count()
        return cache.withLock { $0.secret(for: key, count: count) }
    }

    func remember(_ secret: Secret?, for key: StorageKey, count: UInt64?) {
        cache.withLock { $0.remember(secret, for: key, count: count) }
        note(key)
    }

    func forget(_ key: StorageKey) {
        cache.withLock { $0.forget(key) }
    }

    func forget() {
        cache.withLock { $0.forget() }
    }

    // MARK: Used keys

    func note(_ key: StorageKey) {
        used.withLock { used in
            if used != nil { used?[ChangeCounters.number(of: key), default: []].insert(key) }
        }
    }

    /// Notes the keys that are used from now on, and those of the cached values. The values are read again when they are next used.
    func beginNoting() {
        used.withLock { $0 = $0 ?? [:] }
        let keys = cache.withLock { cache in
            defer { cache.forget() }
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
