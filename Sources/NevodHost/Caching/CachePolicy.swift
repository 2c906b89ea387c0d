/// The directives of a request (RFC 9111 §5.2.1), and the decisions about stored responses that follow from them.
struct CachePolicy: Sendable {
    let method: HTTPMethod
    let isSecure: Bool
    let noCache: Bool
    let noStore: Bool
    let onlyIfCached: Bool
    let maxAge: Duration?
    let minFresh: Duration?
    let maxStale: Duration?
    let staleIfError: Duration?
    /// The session's own lifetime for responses.
    let timeToLive: TimeToLive?

    /// Reads the directives. An invalid value is replaced by the one that demands the most freshness.
    init(_ request: HTTPRequest, timeToLive: TimeToLive? = nil) {
        self.timeToLive = timeToLive
        let control = CacheControl(request.headers)
        method = request.method
        isSecure = request.origin.scheme == .https
        // Pragma, the predecessor of Cache-Control, counts only if there is no Cache-Control (§5.4).
        let pragma = request.headers.contains("Cache-Control") ? [] : request.headers.values(of: "Pragma")
        noCache = control.contains("no-cache") || pragma.contains { $0.lowercased().contains("no-cache") }
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.duration("max-age", broken: .zero)
        minFresh = control.duration("min-fresh", broken: Self.unlimited)
        maxStale = control.isBare("max-stale") ? Self.unlimited : control.duration("max-stale", broken: .zero)
        staleIfError = control.duration("stale-if-error", broken: .zero)
    }

    /// Longer than any duration that a directive can specify (§1.2.2).
    private static let unlimited = Duration.seconds(1 << 40)

    /// Whether the cache handles a request at all. Requests with the caller's own conditions (If-…), requests for parts (§3.3)
    /// and requests with a body go straight to the server.
    static func applies(to request: HTTPRequest) -> Bool {
        (request.method == .get || request.method == .head) && request.body.length == 0
            && !conditionsAndRanges.contains { request.headers.contains($0) }
    }

    private static let conditionsAndRanges = [
        "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range",
    ]

    /// Whether a stored response may be used without validation (§4).
    func mayServe(_ stored: StoredResponse, at now: UnixTime) -> Bool {
        // no-cache in the request (§5.2.1.4) or the response (§5.2.2.4). Even if it names fields, it applies to the whole
        // response.
        guard !noCache, !stored.control.contains("no-cache"), let age = stored.age(at: now) else { return false }
        let isFresh = stored.isFresh(at: now, timeToLive)
        // A reload (max-age=0) of an immutable response needs no validation, if TLS has protected it from truncation and change
        // (RFC 8246 §2, §3).
        let isImmutable = isFresh && isSecure && stored.control.contains("immutable")
        if let maxAge, age > maxAge, !(isImmutable && maxAge == .zero) { return false }  // §5.2.1.1
        if let minFresh, stored.lifetime(timeToLive) < age + minFresh { return false }  // §5.2.1.3
        if isFresh { return true }
        // A stale response (§4.2.4) is used only if the caller accepts it (§5.2.1.2) and the server doesn't forbid it
        // (§5.2.2.2).
        guard let maxStale, !stored.control.contains("must-revalidate") else { return false }
        return age - stored.lifetime(timeToLive) <= maxStale
    }

    /// Whether a stale response may replace an error (RFC 5861 §4). It may not if the request itself limits the age.
    func mayServeOnError(_ stored: StoredResponse, at now: UnixTime) -> Bool {
        guard !noCache, maxAge == nil, minFresh == nil, !stored.control.contains("no-cache"),
            !stored.control.contains("must-revalidate"), let age = stored.age(at: now),
            let window = staleIfError ?? stored.control.duration("stale-if-error", broken: .zero)
        else { return false }
        return age - stored.lifetime(timeToLive) <= window
    }
}

extension CachePolicy {
    /// The statuses whose caching rules this cache implements: the heuristically cacheable ones, and redirects.
    private static let understood = StoredResponse.heuristicallyCacheable.union([302, 303, 307])

    /// Whether a response may be stored (RFC 9111 §3), and could be used later.
    ///
    /// - Parameter hasCookies: whether it had Set-Cookie lines, which are never stored. RFC 9111 §7.3 allows storing the rest;
    ///   but servers often forget `private` on personal pages, so this cache requires the server's `public`.
    func mayStore(_ response: StoredResponse, hasCookies: Bool) -> Bool {
        let control = response.control
        // §5.2.1.5
        guard method == .get, !noStore else { return false }
        switch response.status {
        // Interim and partial responses (§3.3), and 304, which refers to a stored response.
        case ..<200, 206, 304: return false
        // Challenges concern the credential, not the resource, and are often valid only once.
        case 401, 407: return false
        default: break
        }
        // must-understand overrides no-store in caches that implement the status (§5.2.2.3, §5.2.2.5).
        if control.contains("must-understand") {
            guard Self.understood.contains(response.status) else { return false }
        } else if control.contains("no-store") {
            return false
        }
        if hasCookies, !control.contains("public") { return false }
        // Any of these is the server's permission. `private` permits a private cache, such as this one.
        guard
            control.contains("public") || control.contains("private") || control.contains("max-age")
                || response.headers.contains("Expires") || StoredResponse.heuristicallyCacheable.contains(response.status)
        else { return false }
        if response.hasValidator { return true }
        return !control.contains("no-cache")
            && (response.lifetime(timeToLive) > response.initialAge || control.contains("stale-if-error"))
    }
}
