internal import NevodStorage
internal import NevodSupport

/// Caches values read from a server for as long as it sends notifications, and until it sends one of a change. Does no I/O.
///
/// The newest version wins, in whatever order notifications, results of reads and results of writes arrive. The size is limited:
/// of millions of users, few are active at once.
struct RemoteCache {
    /// Taken before a read or a write begins, so that its outdated result is not cached.
    struct Ticket {
        fileprivate let generation: UInt64
        fileprivate let drops: UInt64
    }

    private struct Entry {
        /// The newest known version.
        var version: Int64 = 0
        /// The value of that version; the outer optional is nil if it is unknown.
        var value: Secret??
        var drops: UInt64 = 0
    }

    private let limit: Int
    private(set) var isListening = false
    private var generation: UInt64 = 0
    // Two generations: when the young one is full it becomes the old one, and entries not used since are dropped.
    private var young: [StorageKey: Entry] = [:]
    private var old: [StorageKey: Entry] = [:]

    init(limit: Int = 4096) {
        self.limit = limit
    }

    /// - Returns: nil if it isn't known; a nil `secret` if nothing is stored.
    mutating func value(for key: StorageKey) -> (version: Int64, secret: Secret?)? {
        guard isListening, let entry = entry(for: key), let secret = entry.value else { return nil }
        return (entry.version, secret)
    }

    mutating func ticket(for key: StorageKey) -> Ticket {
        if let entry = entry(for: key) { return Ticket(generation: generation, drops: entry.drops) }
        insert(Entry(), key)
        return Ticket(generation: generation, drops: 0)
    }

    /// Stores the result of a read or of a write.
    mutating func learn(_ secret: Secret?, version: Int64, for key: StorageKey, _ ticket: Ticket) {
        guard isListening, ticket.generation == generation, var entry = entry(for: key), entry.drops == ticket.drops,
            version >= entry.version
        else { return }
        entry.version = version
        entry.value = .some(secret)
        insert(entry, key)
    }

    /// Notes that the server has this version. Keeps nothing for a key that this process doesn't use.
    mutating func noteVersion(_ version: Int64, of key: StorageKey) {
        guard var entry = entry(for: key), version > entry.version else { return }
        entry.version = version
        entry.value = nil
        insert(entry, key)
    }

    /// Invalidates a key's value, and the results of reads that have already begun.
    mutating func drop(_ key: StorageKey) {
        guard var entry = entry(for: key) else { return }
        entry.value = nil
        entry.drops += 1
        insert(entry, key)
    }

    /// Notes that the server sends notifications from now on, or no longer does, so that cached values may be outdated.
    ///
    /// - Returns: the keys whose values may have changed without a notification.
    mutating func setListening(_ isListening: Bool) -> [StorageKey] {
        self.isListening = isListening
        generation += 1
        let keys = Array(Set(young.keys).union(old.keys))
        // Versions too: after a restore from a backup, they start again from lower numbers.
        young = young.mapValues { _ in Entry() }
        old = old.mapValues { _ in Entry() }
        return keys
    }

    private mutating func entry(for key: StorageKey) -> Entry? {
        if let entry = young[key] { return entry }
        guard let entry = old.removeValue(forKey: key) else { return nil }
        insert(entry, key)
        return entry
    }

    private mutating func insert(_ entry: Entry, _ key: StorageKey) {
        if young.count >= limit / 2, young[key] == nil {
            old = young
            young = [:]
            // A dropped entry may have held the version that the result of a read under way must be compared with.
            generation += 1
        }
        young[key] = entry
    }
}
