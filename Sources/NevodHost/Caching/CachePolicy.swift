/// What a request allows (RFC 9111 §5.2.1), and what follows from that for a stored answer. Decides, and does nothing.
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

    /// What can't be read is taken in the sense that asks for more freshness.
    init(_ request: HTTPRequest) {
        let control = CacheControl(request.headers)
        method = request.method
        isSecure = request.origin.scheme == .https
        // Before there was Cache-Control there was Pragma, which counts only without it (§5.4).
        let pragma = request.headers.contains("Cache-Control") ? [] : request.headers.values(of: "Pragma")
        noCache = control.contains("no-cache") || pragma.contains { $0.lowercased().contains("no-cache") }
        noStore = control.contains("no-store")
        onlyIfCached = control.contains("only-if-cached")
        maxAge = control.duration("max-age", broken: .zero)
        minFresh = control.duration("min-fresh", broken: Self.ever)
        maxStale = control.isBare("max-stale") ? Self.ever : control.duration("max-stale", broken: .zero)
        staleIfError = control.duration("stale-if-error", broken: .zero)
    }

    /// Longer than anything that a server can say (§1.2.2).
    private static let ever = Duration.seconds(1 << 40)

    /// Requests that are answered from the store, or whose answers go there. A caller who asks a question of his own, with If-…,
    /// gets the server's answer to it; parts (§3.3) and content on a GET are nobody's business but the server's.
    static func concerns(_ request: HTTPRequest) -> Bool {
        (request.method == .get || request.method == .head) && request.body.length == 0
            && !ownQuestions.contains { request.headers.contains($0) }
    }

    private static let ownQuestions = [
        "If-None-Match", "If-Modified-Since", "If-Match", "If-Unmodified-Since", "If-Range", "Range",
    ]

    /// Whether a stored answer may be used as it is (§4); otherwise it has to be validated.
    func mayServe(_ stored: StoredResponse, at now: UnixTime) -> Bool {
        // no-cache, in the request (§5.2.1.4) or the answer (§5.2.2.4). With field names it could be less: not here.
        guard !noCache, !stored.control.contains("no-cache"), let age = stored.age(at: now) else { return false }
        let isFresh = stored.isFresh(at: now)
        // A reload, max-age=0, of what never changes is no reason to ask; only where nobody could have cut or changed it on its
        // way (RFC 8246 §2, §3).
        let isImmutable = isFresh && isSecure && stored.control.contains("immutable")
        if let maxAge, age > maxAge, !isImmutable { return false }  // §5.2.1.1
        if let minFresh, stored.lifetime < age + minFresh { return false }  // §5.2.1.3
        if isFresh { return true }
        // Stale (§4.2.4): only if the caller takes it (§5.2.1.2) and the server doesn't forbid it (§5.2.2.2).
        guard let maxStale, !stored.control.contains("must-revalidate") else { return false }
        return age - stored.lifetime <= maxStale
    }

    /// Whether a stale answer is better than an error (RFC 5861 §4). Whoever set a limit of his own to age said no.
    func mayServeOnError(_ stored: StoredResponse, at now: UnixTime) -> Bool {
        guard !noCache, maxAge == nil, minFresh == nil, !stored.control.contains("no-cache"),
            !stored.control.contains("must-revalidate"), let age = stored.age(at: now),
            let window = staleIfError ?? stored.control.duration("stale-if-error", broken: .zero)
        else { return false }
        return age - stored.lifetime <= window
    }
}
