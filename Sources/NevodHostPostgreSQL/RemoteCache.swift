internal import NevodStorage
internal import NevodSupport

/// What was read of a store on a server, as long as the server tells of changes and has told of none. Without I/O.
///
/// The newest version wins, whatever order the news of it, the answer of a read and the end of a write come in. Bounded: of
/// millions of users a few are active at a time.
struct RemoteCache {
    /// Of a read or a write, from before it began.
    struct Ticket {
        fileprivate let generation: UInt64
        fileprivate let drops: UInt64
    }

    private struct Entry {
        /// The newest that is known to be.
        var version: Int64 = 0
        /// Of that version; the outer nil: unknown.
        var value: Secret??
        var drops: UInt64 = 0
    }

    private let limit: Int
    private(set) var isListening = false
    private var generation: UInt64 = 0
    // Two halves: when the young one is full it becomes the old one, and what was not used meanwhile goes.
    private var young: [StorageKey: Entry] = [:]
    private var old: [StorageKey: Entry] = [:]

    init(limit: Int = 4096) {
        self.limit = limit
    }

    /// - Returns: nil: it isn't known. A nil inside: nothing is stored.
    mutating func value(for key: StorageKey) -> (version: Int64, secret: Secret?)? {
        guard isListening, let entry = entry(for: key), let secret = entry.value else { return nil }
        return (entry.version, secret)
    }

    mutating func ticket(for key: StorageKey) -> Ticket {
        if let entry = entry(for: key) { return Ticket(generation: generation, drops: entry.drops) }
        insert(Entry(), key)
        return Ticket(generation: generation, drops: 0)
    }

    /// What a read has found, or a write has written.
    mutating func learn(_ secret: Secret?, version: Int64, for key: StorageKey, _ ticket: Ticket) {
        guard isListening, ticket.generation == generation, var entry = entry(for: key), entry.drops == ticket.drops,
            version >= entry.version
        else { return }
        entry.version = version
        entry.value = .some(secret)
        insert(entry, key)
    }

    /// The server says that there is this version. Of a key that nobody here uses nothing is kept.
    mutating func hear(of version: Int64, of key: StorageKey) {
        guard var entry = entry(for: key), version > entry.version else { return }
        entry.version = version
        entry.value = nil
        insert(entry, key)
    }

    /// What is known of a key is not good enough, nor is the answer of a read that has begun already.
    mutating func drop(_ key: StorageKey) {
        guard var entry = entry(for: key) else { return }
        entry.value = nil
        entry.drops += 1
        insert(entry, key)
    }

    /// From now on the server tells of changes; or no longer does, and what is known may be old.
    ///
    /// - Returns: the keys whose values may have changed unheard.
    mutating func setListening(_ isListening: Bool) -> [StorageKey] {
        self.isListening = isListening
        generation += 1
        let keys = Array(Set(young.keys).union(old.keys))
        // Versions too: after a backup was put back they count anew.
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
            // An entry that has gone may have held what an answer under way must be measured by.
            generation += 1
        }
        young[key] = entry
    }
}
