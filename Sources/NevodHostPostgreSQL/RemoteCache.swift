internal import NevodStorage
internal import NevodSupport

/// Caches values from a server while it sends notifications. A value is cached until a notification says that it has changed.
/// Does no I/O.
///
/// The newest version wins, whatever the order in which notifications and the results of reads and writes arrive.
struct RemoteCache {
    /// Taken before a read or a write begins, so that an outdated result is not cached.
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

    private(set) var isListening = false
    private var resets: UInt64 = 0
    private var entries: GenerationalCache<StorageKey, Entry>

    init(limit: Int = 4096) {
        entries = GenerationalCache(limit: limit)
    }

    /// Changes whenever versions are forgotten: without them, it can't be told whether the result of a read under way is
    /// outdated.
    private var generation: UInt64 { resets + entries.drops }

    /// - Returns: nil if the value isn't known; a nil `secret` if nothing is stored.
    mutating func value(for key: StorageKey) -> (version: Int64, secret: Secret?)? {
        guard isListening, let entry = entries.value(for: key), let secret = entry.value else { return nil }
        return (entry.version, secret)
    }

    mutating func ticket(for key: StorageKey) -> Ticket {
        if let entry = entries.value(for: key) { return Ticket(generation: generation, drops: entry.drops) }
        entries.insert(Entry(), for: key)
        return Ticket(generation: generation, drops: 0)
    }

    /// Stores the result of a read or of a write.
    mutating func learn(_ secret: Secret?, version: Int64, for key: StorageKey, _ ticket: Ticket) {
        guard isListening, ticket.generation == generation, var entry = entries.value(for: key), entry.drops == ticket.drops,
            version >= entry.version
        else { return }
        entry.version = version
        entry.value = .some(secret)
        entries.insert(entry, for: key)
    }

    /// Notes that the server has this version. Keeps nothing for a key that this process doesn't use.
    mutating func noteVersion(_ version: Int64, of key: StorageKey) {
        guard var entry = entries.value(for: key), version > entry.version else { return }
        entry.version = version
        entry.value = nil
        entries.insert(entry, for: key)
    }

    /// Invalidates a key's value, and the results of reads that have already begun.
    mutating func drop(_ key: StorageKey) {
        guard var entry = entries.value(for: key) else { return }
        entry.value = nil
        entry.drops += 1
        entries.insert(entry, for: key)
    }

    /// Notes whether the server sends notifications from now on. Either way, cached values may be outdated.
    ///
    /// - Returns: the keys whose values may have changed without a notification.
    mutating func setListening(_ isListening: Bool) -> [StorageKey] {
        self.isListening = isListening
        resets += 1
        // Versions are dropped too: after a restore from a backup, they start again from lower numbers.
        entries.mapValues { _ in Entry() }
        return entries.keys
    }
}
