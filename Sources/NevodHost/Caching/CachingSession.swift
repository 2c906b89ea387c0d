/// A transport with a cache (RFC 9111) above another transport: in memory (``InMemoryCache``) or on disk (``DiskCache``). It is a
/// private cache: it serves the users of one program, and never returns one user's response to another user.
///
/// ```swift
/// let provider = NetworkProvider(config: config, session: CachingSession(CurlSession()))
/// ```
///
/// Responses are partitioned by origin, by all that a token or scheme wrote on the request, and by all lines with the name of a
/// credential (Authorization, Cookie, X-API-Key and the like). A response that the server marks `private` is used only for requests
/// with the same lines, all that the caller and interceptors wrote, since any of them may say who the user is; or for requests that
/// name the same ``TransferOptions/cacheOwner``. The cache keeps only keyed digests of these. A request with a signature of its own,
/// or with a renewed token, therefore never matches a stored response.
///
/// - Complete responses to GET are stored, up to a size limit, and used for GET and HEAD. Requests for parts (Range), requests
///   with conditions of their own, and responses delivered `.streamed` pass through unchanged.
/// - A response with Set-Cookie is stored only if it is marked `public`, and without the cookie.
/// - Stale responses are used where `max-stale` or `stale-if-error` (RFC 5861) allows. `stale-while-revalidate` has no effect,
///   since the cache does no background work.
/// - Concurrent equal requests are all sent; they aren't collapsed into one.
/// - Validators (If-None-Match, If-Modified-Since) are added after signing, so signatures don't cover them.
/// - Responses that a scheme checks by the digests of their bodies are neither stored nor served.
/// - ``TransferOptions/onMetrics`` is called only for transfers, not for stored responses.
public final class CachingSession: HTTPTransport {
    private let base: any HTTPTransport
    private let store: any ResponseCache
    private let timeToLive: TimeToLive?
    private let clock: HostClock

    /// - Parameters:
    ///   - base: sends the requests that can't be served from the cache. Provides the executor, and the lines that it adds to each
    ///     request before signing.
    ///   - store: keeps the responses; by default, a cache of this session's own.
    ///   - timeToLive: the client's own lifetime for successes; nil to leave it to the server. It applies to each use by this
    ///     session, and so not by others with the same store.
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
    ///   - base: as for a cache in memory.
    ///   - store: keeps the responses.
    ///   - timeToLive: as for a cache in memory.
    ///   - clock: measures the ages of responses. If it was set back, those that arrived after its time are not fresh.
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

    /// - Throws: the errors of the base transport; `bodyTooLarge` also for a stored response.
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

    private func transfer(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<HTTPResponse, TransportError> {
        do throws(TransportError) { return .success(try await base.send(request, options)) } catch { return .failure(error) }
    }

    /// Sends a request that may change the resource, and invalidates the stored responses (RFC 9111 §4.4). An error status
    /// means that nothing has changed. Without a response, that is unknown, so they are invalidated too.
    private func sendInvalidating(_ request: HTTPRequest, _ options: TransferOptions) async -> Result<
        HTTPResponse, TransportError
    > {
        let outcome = await transfer(request, options)
        if !request.method.isSafe, Self.mayHaveChanged(outcome) {
            await store.invalidate { Self.resources(changedBy: request, outcome, $0) }
        }
        return outcome
    }

    private static func mayHaveChanged(_ outcome: Result<HTTPResponse, TransportError>) -> Bool {
        if case .success(let response) = outcome { (200..<400).contains(response.status) } else { true }
    }

    /// The target, and the resources of the same origin that the response names in Location and Content-Location.
    private static func resources(
        changedBy request: HTTPRequest, _ outcome: Result<HTTPResponse, TransportError>, _ digests: KeyedDigest.Key
    ) -> [KeyedDigest] {
        var changed = [CacheKey.resource(of: request, digests)]
        if case .success(let response) = outcome {
            for name in ["Location", "Content-Location"] {
                guard let text = response.headers[name] else { continue }
                changed.append(resource(named: text, by: request, digests))
            }
        }
        return changed.compactMap(\.self)
    }

    private static func resource(named text: String, by request: HTTPRequest, _ digests: KeyedDigest.Key) -> KeyedDigest? {
        var named = request
        let url = request.resolving(text)
        do throws(InvalidRequestError) { try named.redirect(to: url, leavingOut: request.credentialQueryItems) } catch {
            return nil
        }
        return named.origin == request.origin ? CacheKey.resource(of: named, digests) : nil
    }
}

extension HTTPMethod {
    /// RFC 9110 §9.2.1. An unknown method counts as unsafe.
    fileprivate var isSafe: Bool {
        self == .get || self == .head || self == .options || rawValue == "TRACE"
    }
}
