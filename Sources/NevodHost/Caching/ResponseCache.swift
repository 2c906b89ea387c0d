/// The place where a ``CachingSession`` keeps its responses, in memory or on disk.
protocol ResponseCache: Sendable {
    /// The key of the digests that responses are found by; nil while nothing can be stored or found.
    func digestKey() async -> KeyedDigest.Key?

    /// The stored response that a request selects (RFC 9111 §4, §4.1): of several, the most recent.
    func select(_ key: CacheKey, _ request: HTTPRequest) async -> CacheSelection

    /// Called before a request is sent whose response may be stored.
    func begin(_ key: CacheKey) -> CacheTable.Flight?

    /// Ends a flight, and applies its change unless the resource was invalidated meanwhile. A slow cache applies it later.
    ///
    /// - Parameter selection: what the request started with.
    func end(
        _ flight: CacheTable.Flight?, _ change: CacheExchange.Change, for key: CacheKey, _ request: HTTPRequest,
        _ selection: CacheSelection)

    /// Removes the responses of resources for all users (RFC 9111 §4.4).
    func invalidate(_ resources: @Sendable (KeyedDigest.Key) -> [KeyedDigest]) async
}

/// The result of a search in a cache.
struct CacheSelection: Sendable {
    var entry: CacheTable.Entry?
    /// The file that was searched, as it was then; nil in memory.
    var place: DiskPlace?
}
