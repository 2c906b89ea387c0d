internal import NevodSupport

/// The cookies of any number of hosts (RFC 6265 §5.3). A value without I/O or a clock of its own.
///
/// ```swift
/// var jar = CookieJar()
/// jar.store(setCookieLinesOf: response, from: request, now: now)
/// if let line = jar.cookieLine(for: next, now: now) { try next.setHeader("Cookie", line) }
/// ```
///
/// Holds at most 50 cookies for each domain, 180 for each site (a registered domain with all its hosts), and 3000 in total (RFC
/// 6265 §6.1). If a domain or site exceeds its limit, one of its cookies is removed. If the total is exceeded, a cookie is
/// removed from the site with the most. Cookies that aren't secure are removed first, older ones before newer ones (draft 6265bis
/// §5.7). So a site can't remove another site's cookies by setting many, and a server without TLS can't remove the secure cookies
/// of its domain.
public struct CookieJar: Sendable {
    private struct Entry: StoredCookie {
        var cookie: Cookie
        let site: String

        var name: String { cookie.name }
        var domain: String { cookie.domain }
        var isHostOnly: Bool { cookie.isHostOnly }
        var path: String { cookie.path }
        var isSecure: Bool { cookie.isSecure }
        var expiry: Int64? { cookie.expiry }

        func replacing(_ old: Entry) -> Entry { Entry(cookie: cookie.replacing(old.cookie), site: site) }
    }

    /// Ordered by their creation.
    private var entries: [Entry] = []
    /// The number of cookies of each site that has any.
    private var counts: [String: Int] = [:]

    private static let maxPerSite = 180
    private static let maxTotal = 3000

    /// Creates an empty jar.
    public init() {}

    /// - Parameter cookies: if several have the same name, domain and path, the last one is kept.
    public init(_ cookies: some Sequence<Cookie>) {
        for cookie in cookies.sorted(by: { $0.creation < $1.creation }) { set(cookie, overTLS: true, at: .min) }
    }

    /// Whether there are no cookies. Expired cookies count until ``store(setCookieLinesOf:from:now:)`` removes them.
    public var isEmpty: Bool { entries.isEmpty }

    /// Adds the cookies that a response sets, and removes those that it deletes or that have expired. Lines that are malformed,
    /// or that the request's origin may not set, are ignored.
    ///
    /// - Parameters:
    ///   - response: its `Set-Cookie` lines are applied in order.
    ///   - request: the request that the response belongs to; after redirects, the last one.
    ///   - now: the time that decides which cookies have expired.
    public mutating func store(setCookieLinesOf response: HTTPResponse, from request: HTTPRequest, now: UnixTime) {
        let expired = entries.filter { $0.isExpired(at: now.seconds) }
        for entry in expired { uncount(entry) }
        if !expired.isEmpty { entries.removeAll { $0.isExpired(at: now.seconds) } }
        for cookie in Cookie.cookies(setBy: response, to: request, now: now) { set(cookie, by: request, now: now) }
    }

    /// The cookies to send with a request, in order: longer paths first, then the earlier created (RFC 6265 §5.4).
    public func cookies(for request: HTTPRequest, now: UnixTime) -> [Cookie] {
        sent(with: request, now: now)
    }

    /// The value of a request's Cookie line; nil if no cookie matches it.
    public func cookieLine(for request: HTTPRequest, now: UnixTime) -> String? {
        let cookies = cookies(for: request, now: now)
        return cookies.isEmpty ? nil : cookies.cookieLine
    }

    /// Sets or deletes a cookie.
    mutating func set(_ cookie: Cookie, by request: HTTPRequest, now: UnixTime) {
        set(cookie, overTLS: request.origin.scheme == .https, at: now.seconds)
    }

    private mutating func set(_ cookie: Cookie, overTLS: Bool, at unixSeconds: Int64) {
        let site = PublicSuffix.site(of: cookie.domain)
        switch entries.set(Entry(cookie: cookie, site: site), overTLS: overTLS, at: unixSeconds) {
        case .added: break
        case .deleted(let removed?): return uncount(removed)
        case .refused, .replaced, .deleted(.none): return
        }
        let count = (counts[site] ?? 0) + 1
        counts[site] = count
        // A domain has at most as many cookies as its site. Checking the site's count first spares most jars a search.
        if count > Cookie.mostOfOneDomain { limit(to: Cookie.mostOfOneDomain) { $0.domain == cookie.domain } }
        if count > Self.maxPerSite { limit(to: Self.maxPerSite) { $0.site == site } }
        if entries.count > Self.maxTotal, let most = counts.values.max() {
            // The site with the most cookies; of several, the one with the oldest cookie.
            let largest = entries.first { counts[$0.site] == most }?.site
            limit(to: most - 1) { $0.site == largest }
        }
    }

    private mutating func limit(to most: Int, _ isCounted: (Entry) -> Bool) {
        if let removed = entries.limit(to: most, where: isCounted) { uncount(removed) }
    }

    private mutating func uncount(_ entry: Entry) {
        let rest = counts[entry.site].map { $0 - 1 } ?? 0
        counts[entry.site] = rest > 0 ? rest : nil
    }
}

extension CookieJar: Sequence {
    /// Iterates in the order of creation.
    public func makeIterator() -> IndexingIterator<[Cookie]> {
        entries.map(\.cookie).makeIterator()
    }
}

extension HTTPRequest {
    /// The path to match cookies against.
    var cookiePath: String { CookieScope.requestPath(of: target) }

    /// Adds cookies to the single Cookie line, in this order. They replace the line's cookies with the same names. They may
    /// include several with one name but different paths.
    mutating func setCookies(_ cookies: [Cookie]) throws(InvalidRequestError) {
        try setCookies(cookies.map { ($0.name, $0.value) })
    }
}

extension Sequence<Cookie> {
    /// The cookies to send with a request, in order: longer paths first, then the earlier created (RFC 6265 §5.4).
    func sent(with request: HTTPRequest, now: UnixTime) -> [Cookie] {
        filter { $0.matches(request) && !$0.isExpired(at: now) }.sorted { $0.creation < $1.creation }.inSendingOrder
    }

    /// These cookies as the value of a Cookie line.
    var cookieLine: String { map { "\($0.name)=\($0.value)" }.joined(separator: "; ") }
}
