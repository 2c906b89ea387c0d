internal import NevodSupport

/// The answers that a ``CachingSession`` keeps: in memory, bounded in bytes, gone with the process. When it is full, what was
/// used least recently goes.
///
/// Sessions may share one only if a server can't tell them apart: a client certificate is no part of a request, and so no part of
/// what an answer is stored under.
public final class InMemoryCache: Sendable {
    private let table: Locked<CacheTable>

    /// - Parameters:
    ///   - byteLimit: for all answers together, heads included.
    ///   - entryByteLimit: for one answer; a larger one isn't stored.
    public init(byteLimit: Int = 32 << 20, entryByteLimit: Int = 4 << 20) {
        table = Locked(CacheTable(byteLimit: byteLimit, entryByteLimit: entryByteLimit))
    }

    /// Of all stored answers, heads included.
    public var byteCount: Int { table.withLock { $0.byteCount } }
    /// Stored answers.
    public var count: Int { table.withLock { $0.count } }

    /// Forgets every answer, also those that requests under way will bring: for a logout.
    public func removeAll() {
        table.withLock { $0.removeAll() }
    }

    /// The stored answer that a request selects (RFC 9111 §4, §4.1), of several the most recent.
    func entry(for key: CacheKey, _ request: HTTPRequest) -> CacheTable.Entry? {
        let entries = table.withLock { $0.entries(for: key) }
        let selected = entries.filter { $0.vary.matches(request) }.max { $0.response.date < $1.response.date }
        if let selected { table.withLock { $0.touch(selected.id) } }
        return selected
    }

    func begin(_ key: CacheKey) -> CacheTable.Flight {
        table.withLock { $0.begin(key.resource) }
    }

    /// Ends a flight with what it brought.
    ///
    /// - Parameter replaced: the entry that the request began with.
    func end(
        _ flight: CacheTable.Flight, _ change: CacheExchange.Change, for key: CacheKey, _ request: HTTPRequest,
        replacing replaced: CacheTable.Entry?
    ) {
        var new: (response: StoredResponse, vary: VaryKey)?
        if case .store(let response) = change, let vary = VaryKey(of: response.headers, for: request) { new = (response, vary) }
        table.withLock { [new] table in
            guard table.end(flight) else { return }
            if case .none = change { return }
            if let replaced { table.remove(replaced.id) }
            if let new { table.insert(new.response, new.vary, for: key) }
        }
    }

    func invalidate(_ resources: [KeyedDigest]) {
        table.withLock { table in
            for resource in resources { table.invalidate(resource) }
        }
    }
}
