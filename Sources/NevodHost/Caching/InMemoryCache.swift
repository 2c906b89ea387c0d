internal import NevodSupport

/// The responses that a ``CachingSession`` stores: in memory, with a limit in bytes. When the cache is full, the least recently
/// used responses are removed.
///
/// Sessions may share a cache only if servers can't tell them apart. For example, sessions with different client certificates
/// must not share one: a certificate isn't part of the request, so it isn't part of a response's key.
public final class InMemoryCache: Sendable {
    private let table: Locked<CacheTable>

    /// - Parameters:
    ///   - byteLimit: the size limit of all responses together, including their headers.
    ///   - entryByteLimit: the size limit of one response; a larger one isn't stored.
    public init(byteLimit: Int = 32 << 20, entryByteLimit: Int = 4 << 20) {
        table = Locked(CacheTable(byteLimit: byteLimit, entryByteLimit: entryByteLimit))
    }

    /// The size of all stored responses, including their headers.
    public var byteCount: Int { table.withLock { $0.byteCount } }
    /// The number of stored responses.
    public var count: Int { table.withLock { $0.count } }

    /// Removes all responses, for example at logout. Responses of requests under way won't be stored.
    public func removeAll() {
        table.withLock { $0.removeAll() }
    }
}

extension InMemoryCache: ResponseCache {
    func digestKey() -> KeyedDigest.Key? { .ofProcess }

    func select(_ key: CacheKey, _ request: HTTPRequest) -> CacheSelection {
        let entries = table.withLock { $0.entries(for: key) }
        let selected = entries.filter { $0.vary.matches(request, .ofProcess) }.max { $0.response.date < $1.response.date }
        if let selected { table.withLock { $0.touch(selected.id) } }
        return CacheSelection(entry: selected)
    }

    func begin(_ key: CacheKey) -> CacheTable.Flight? {
        table.withLock { $0.begin(key.resource) }
    }

    func end(
        _ flight: CacheTable.Flight?, _ change: CacheExchange.Change, for key: CacheKey, _ request: HTTPRequest,
        _ selection: CacheSelection
    ) {
        guard let flight else { return }
        var new: (response: StoredResponse, vary: VaryKey)?
        if case .store(let response) = change, let vary = VaryKey(of: response.headers, for: request, .ofProcess) {
            new = (response, vary)
        }
        table.withLock { [new] table in
            guard table.end(flight) else { return }
            if case .none = change { return }
            if let replaced = selection.entry { table.remove(replaced.id) }
            if let new { table.insert(new.response, new.vary, for: key) }
        }
    }

    func invalidate(_ resources: @Sendable (KeyedDigest.Key) -> [KeyedDigest]) {
        guard let digests = KeyedDigest.Key.ofProcess else { return }
        let changed = resources(digests)
        table.withLock { table in
            for resource in changed { table.invalidate(resource) }
        }
    }
}

/// The stored responses. Beyond the limit in bytes, the least recently used are removed first.
struct CacheTable {
    struct Entry: Sendable {
        let id: Int
        let vary: VaryKey
        let response: StoredResponse
    }

    /// A request under way whose response may be stored.
    struct Flight: Sendable {
        let resource: KeyedDigest
        fileprivate let epoch: Int
    }

    private struct Place {
        let resource: KeyedDigest
        let partition: KeyedDigest
        let cost: Int
        var lastUse: Int
    }

    private let byteLimit: Int
    private let entryByteLimit: Int
    private(set) var byteCount = 0
    private var resources: [KeyedDigest: [KeyedDigest: [Entry]]] = [:]
    private var places: [Int: Place] = [:]
    /// Uses in order, including those that a later use of the same entry has outdated.
    private var uses = Deque<(id: Int, use: Int)>()
    private var lastID = 0
    private var lastUse = 0
    private var flights: [KeyedDigest: (count: Int, epoch: Int)] = [:]

    /// Bounds the time of a lookup, whatever the number of variants that a server produces.
    private static let maxVariants = 16

    init(byteLimit: Int, entryByteLimit: Int) {
        self.byteLimit = byteLimit
        self.entryByteLimit = min(entryByteLimit, byteLimit)
    }

    var count: Int { places.count }
    var usesCount: Int { uses.count }

    /// The responses that the request's user may get.
    func entries(for key: CacheKey) -> [Entry] {
        guard let stored = resources[key.resource] else { return [] }
        let own = stored[key.user] ?? []
        // A private response under the partition's own key is for requests without an owner and without other lines.
        return key.user == key.partition ? own : (stored[key.partition] ?? []).filter { !$0.response.isPrivate } + own
    }

    mutating func touch(_ id: Int) {
        guard places[id] != nil else { return }
        lastUse += 1
        places[id]?.lastUse = lastUse
        uses.append((id, lastUse))
        if uses.count > 2 * places.count + 64 { removeOutdatedUses() }
    }

    /// Stores a response, replacing the one for the same variant. A response that is too large for the table isn't stored.
    mutating func insert(_ response: StoredResponse, _ vary: VaryKey, for key: CacheKey) {
        if let old = entries(for: key).first(where: { $0.vary == vary }) {
            // The older of two concurrent responses may arrive last.
            guard old.response.date <= response.date else { return }
            remove(old.id)
        }
        let cost = response.cost
        guard cost <= entryByteLimit else { return }
        let partition = response.isPrivate ? key.user : key.partition
        let variants = resources[key.resource]?[partition] ?? []
        if variants.count >= Self.maxVariants, let oldest = variants.first { remove(oldest.id) }
        lastID += 1
        resources[key.resource, default: [:]][partition, default: []].append(Entry(id: lastID, vary: vary, response: response))
        places[lastID] = Place(resource: key.resource, partition: partition, cost: cost, lastUse: 0)
        byteCount += cost
        touch(lastID)
        while byteCount > byteLimit, let oldest = uses.popFirst() {
            if places[oldest.id]?.lastUse == oldest.use { remove(oldest.id) }
        }
    }

    mutating func remove(_ id: Int) {
        guard let place = places.removeValue(forKey: id) else { return }
        byteCount -= place.cost
        let (resource, partition) = (place.resource, place.partition)
        resources[resource]?[partition]?.removeAll { $0.id == id }
        if resources[resource]?[partition]?.isEmpty == true { resources[resource]?[partition] = nil }
        if resources[resource]?.isEmpty == true { resources[resource] = nil }
    }

    /// Removes the responses of a resource for all users (RFC 9111 §4.4). Responses of requests under way won't be stored,
    /// because they may be older than the change.
    mutating func invalidate(_ resource: KeyedDigest) {
        flights[resource]?.epoch += 1
        for entry in (resources[resource] ?? [:]).values.joined() { remove(entry.id) }
    }

    mutating func removeAll() {
        for resource in flights.keys { flights[resource]?.epoch += 1 }
        resources = [:]
        places = [:]
        uses = Deque()
        byteCount = 0
    }

    // MARK: Requests under way

    mutating func begin(_ resource: KeyedDigest) -> Flight {
        flights[resource, default: (0, 0)].count += 1
        return Flight(resource: resource, epoch: flights[resource]?.epoch ?? 0)
    }

    /// Removes a flight.
    ///
    /// - Returns: whether its response may be stored.
    mutating func end(_ flight: Flight) -> Bool {
        guard let state = flights[flight.resource] else { return false }
        flights[flight.resource] = state.count > 1 ? (state.count - 1, state.epoch) : nil
        return state.epoch == flight.epoch
    }

    private mutating func removeOutdatedUses() {
        var kept = Deque<(id: Int, use: Int)>()
        while let next = uses.popFirst() {
            if places[next.id]?.lastUse == next.use { kept.append(next) }
        }
        uses = kept
    }
}
