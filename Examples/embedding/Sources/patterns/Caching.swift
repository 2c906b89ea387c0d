import NevodSessions

/// A client that caches successful responses for five minutes unless the service says otherwise, even across restarts.
struct CachedClient {
    let cache: DiskCache
    let client: AuthenticatingHTTPClient

    init(baseURL: String, tokenProvider: some TokenProvider, folder: String, base: any HTTPTransport = CurlSession()) {
        cache = DiskCache(path: "\(folder)/responses.db", key: KeyFile(path: "\(folder)/responses.key"))
        client = AuthenticatingHTTPClient(
            baseURL: baseURL, tokenProvider: tokenProvider,
            session: CachingSession(base, store: cache, timeToLive: .seconds(300)))
    }

    /// Called at a logout.
    func forget() async throws {
        try await cache.removeAll()
    }
}
