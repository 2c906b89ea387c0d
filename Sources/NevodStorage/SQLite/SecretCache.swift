internal import NevodSupport

/// What was read of a store, as long as it has not changed. Bounded: of millions of users a few are active at a time.
struct SecretCache {
    private static let limit = 4096

    private struct Entry {
        let secret: Secret?
        let count: UInt64
    }

    // Two halves: when the young one is full it becomes the old one, and what was not used meanwhile goes.
    private var young: [StorageKey: Entry] = [:]
    private var old: [StorageKey: Entry] = [:]

    /// - Parameter count: of the key's changes; nil: unknown.
    /// - Returns: nil: it isn't known. A nil inside: nothing is stored.
    mutating func secret(for key: StorageKey, count: UInt64?) -> Secret?? {
        guard let count else { return nil }
        if let entry = young[key] { return entry.count == count ? .some(entry.secret) : nil }
        guard let entry = old.removeValue(forKey: key), entry.count == count else { return nil }
        insert(entry, key)
        return .some(entry.secret)
    }

    /// - Parameter count: from before it was read.
    mutating func remember(_ secret: Secret?, for key: StorageKey, count: UInt64?) {
        guard let count else { return }
        insert(Entry(secret: secret, count: count), key)
    }

    mutating func forget(_ key: StorageKey) {
        young[key] = nil
        old[key] = nil
    }

    mutating func forget() {
        young = [:]
        old = [:]
    }

    private mutating func insert(_ entry: Entry, _ key: StorageKey) {
        if young.count >= Self.limit / 2 {
            old = young
            young = [:]
        }
        young[key] = entry
    }
}
