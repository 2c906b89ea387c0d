internal import NevodSupport

/// The responses that a ``CachingSession`` stores: in memory, with a limit in bytes. When it is full, the least recently used
/// are removed.
///
/// Sessions may share one only if servers can't tell them apart. For example, sessions with different client certificates must
/// not: a certificate isn't part of the request, and so not part of a response's key.
public final class InMemoryCache: Sendable {
    private let table: Locked<CacheTable>

    /// - Parameters:
    ///   - byteLimit: the limit of all responses together, including their headers.
    ///   - entryByteLimit: the limit of one response; a larger one isn't stored.
    public init(byteLimit: Int = 32 << 20, entryByteLimit: Int = 4 << 20) {
        table = Locked(CacheTable(byteLimit: byteLimit, entryByteLimit: entryByteLimit))
    }

    /// The size of all stored responses, including their headers.
    public var byteCount: Int { table.withLock { $0.byteCount } }
    /// The number of stored responses.
    public var count: Int { table.withLock { $0.count } }

    /// Removes all responses, as for a logout. Responses of requests under way won't be stored.
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
