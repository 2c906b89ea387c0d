internal import NevodSupport

/// Caches values of a store until they change. Its size is limited: of millions of users, few are active at once.
struct SecretCache {
    private static let limit = 4096

    private struct Entry {
        let secret: Secret?
        let count: UInt64
    }

    // Two generations: when the young one is full it becomes the old one, and entries not used since are dropped.
    private var young: [StorageKey: Entry] = [:]
    private var old: [StorageKey: Entry] = [:]

    /// - Parameter count: The count of the key's changes; nil if unknown.
    /// - Returns: nil if it isn't cached; an inner nil if nothing is stored.
    mutating func secret(for key: StorageKey, count: UInt64?) -> Secret?? {
        guard let count else { return nil }
        if let entry = young[key] { return entry.count == count ? .some(entry.secret) : nil }
        guard let entry = old.removeValue(forKey: key), entry.count == count else { return nil }
        insert(entry, key)
        return .some(entry.secret)
    }

    /// - Parameter count: The count of the key's changes before the value was read.
    mutating func remember(_ secret: Secret?, for key: StorageKey, count: UInt64?) {
        guard let count else { return }
        insert(Entry(secret: secret, count: count), key)
    }

    mutating func forget(_ key: StorageKey) {
        young[key] = nil
        old[key] = nil
    }

    var keys: [StorageKey] { Array(young.keys) + Array(old.keys) }

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
