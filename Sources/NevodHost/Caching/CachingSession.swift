/// A transport with a cache (RFC 9111) above another transport: in memory (``InMemoryCache``) or on disk (``DiskCache``). It is a
/// private cache: it serves the users of one program, and never returns one user's response to another user.
///
/// ```swift
/// let provider = NetworkProvider(config: config, session: CachingSession(CurlSession()))
/// ```
///
/// Responses are partitioned by origin, by everything that a token or scheme wrote on the request, and by all lines with a
/// credential's name (Authorization, Cookie, X-API-Key and the like). A response that the server marks `private` is used only for
/// requests with the same ``TransferOptions/cacheOwner``. Without an owner, all lines that the caller and interceptors wrote must
/// be the same, because any of them may identify the user. A request with its own signature, or with a renewed token, therefore
/// never matches a stored response. The cache keeps only keyed digests of all these values.
///
/// - Complete responses to GET are stored, up to a size limit, and used for GET and HEAD. Requests for parts (Range), requests
///   with conditions of their own, and responses delivered `.streamed` pass through unchanged.
/// - A response with Set-Cookie is stored only if it is marked `public`, and without the cookie.
/// - Stale responses are used where `max-stale` or `stale-if-error` (RFC 5861) allows. `stale-while-revalidate` has no effect,
///   because the cache does no background work.
/// - Concurrent identical requests are all sent; they aren't collapsed into one.
/// - Validators (If-None-Match, If-Modified-Since) are added after signing, so signatures don't cover them.
/// - Responses that a scheme checks by the digests of their bodies are neither stored nor served.
/// - ``TransferOptions/onMetrics`` is called only for transfers, not for stored responses.
public final class CachingSession: HTTPTransport {
    private let base: any HTTPTransport
    let store: any ResponseCache
    private let timeToLive: TimeToLive?
    private let clock: HostClock

    /// - Parameters:
    ///   - base: sends the requests that can't be served from the cache. Its executor is used, and it adds its own header lines
    ///     to each request before signing.
    ///   - store: keeps the responses; by default, a new cache for this session alone.
    ///   - timeToLive: the client's own lifetime for successes; nil to leave it to the server. It applies to this session only,
    ///     not to other sessions with the same store.
    ///   - clock: measures the ages of responses.
    public convenience init(
        _ base: any HTTPTransport, store: InMemoryCache = InMemoryCache(), timeToLive: TimeToLive? = nil,
        clock: HostClock = .system
    ) {
        self.init(base, cache: store, timeToLive, clock)
    }

    /// A session whose responses are in a file.
    ///
    /// - Parameters:
    ///   - base: sends the requests that can't be served from the cache; see the initializer for a cache in memory.
    ///   - store: keeps the responses.
    ///   - timeToLive: the client's own lifetime for successful responses; nil to leave it to the server.
    ///   - clock: measures the ages of responses. After it was set back, responses that arrived at a later time are not fresh.
    public convenience init(
        _ base: any HTTPTransport, store: DiskCache, timeToLive: TimeToLive? = nil, clock: HostClock = .system
    ) {
        self.init(base, cache: store, timeToLive, clock)
    }

    private init(_ base: any HTTPTransport, cache store: any ResponseCache, _ timeToLive: TimeToLive?, _ clock: HostClock) {
        self.base = base
        self.store = store
        self.timeToLive = timeToLive
        self.clock = clock
    }

    public var executor: (any TaskExecutor)? { base.executor }

    public var decodesContent: Bool { base.decodesContent }

    public func prepare(_ request: inout HTTPRequest) {
        base.prepare(&request)
    }

    /// - Throws: the errors of the base transport, and `bodyTooLarge` for a stored response whose body exceeds the limit.
    public func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        // The two functions return results instead of throwing: with an early `return try await` here, Swift 6.3 frees the
        // task's memory in the wrong order ("freed pointer was not the last allocation").
        let outcome =
            if request.method == .get || request.method == .head {
                await sendCached(request, options)
            } else {
                await sendInvalidating(request, options)
            }
        return try outcome.get()
    }

    private func sendCached(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<HTTPResponse, TransportError> {
        let policy = CachePolicy(request, timeToLive: timeToLive)
        // Vary refers to the lines that are sent.
        var prepared = request
        base.prepare(&prepared)
        guard case .collected(let limit) = options.delivery, CachePolicy.applies(to: request),
            let digests = await store.digestKey(), let key = CacheKey(prepared, owner: options.cacheOwner, digests)
        else {
            return policy.onlyIfCached ? .success(.notCached) : await transfer(request, options)
        }
        let selection = await store.select(key, prepared)
        var exchange = CacheExchange(prepared, policy, stored: selection.entry?.response, limit: limit)
        var action = exchange.start(at: clock.now)
        if case .finish(let result, _) = action { return result }

        let flight = store.begin(key)
        while true {
            switch action {
            case .send(let outgoing):
                let requestedAt = clock.now
                let outcome = await transfer(outgoing, options)
                action = exchange.receive(outcome, requestedAt: requestedAt, at: clock.now)
            case .finish(let result, let change):
                store.end(flight, change, for: key, prepared, selection)
                return result
            }
        }
    }

    func transfer(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<HTTPResponse, TransportError> {
        do throws(TransportError) { return .success(try await base.send(request, options)) } catch { return .failure(error) }
    }
}

/// The place where a ``CachingSession`` keeps its responses, in memory or on disk.
protocol ResponseCache: Sendable {
    /// The key for the digests in a ``CacheKey``; nil while the cache can't be used.
    func digestKey() async -> KeyedDigest.Key?

    /// The stored response that a request selects (RFC 9111 §4, §4.1); if there are several, the most recent one.
    func select(_ key: CacheKey, _ request: HTTPRequest) async -> CacheSelection

    /// Begins a flight. Called before a request is sent, if its response may be stored.
    func begin(_ key: CacheKey) -> CacheTable.Flight?

    /// Ends a flight, and applies its change unless the resource was invalidated meanwhile. A cache on disk applies the change
    /// later.
    ///
    /// - Parameter selection: the result of the search that the request started with.
    func end(
        _ flight: CacheTable.Flight?, _ change: CacheExchange.Change, for key: CacheKey, _ request: HTTPRequest,
        _ selection: CacheSelection)

    /// Removes the responses of resources for all users (RFC 9111 §4.4).
    func invalidate(_ resources: @Sendable (KeyedDigest.Key) -> [KeyedDigest]) async
}

/// The result of a search in a cache.
struct CacheSelection: Sendable {
    var entry: CacheTable.Entry?
    /// The file that was searched, and its state at that time; nil for a cache in memory.
    var place: DiskPlace?
}
