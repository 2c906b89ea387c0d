/// The cookies of any number of hosts (RFC 6265 §5.3). A value without I/O or a clock of its own.
///
/// ```swift
/// var jar = CookieJar()
/// jar.store(setCookieLinesOf: response, from: request, now: now)
/// if let line = jar.cookieLine(for: next, now: now) { try next.setHeader("Cookie", line) }
/// ```
///
/// Holds at most 50 cookies for each domain, 180 for each site (a registered domain with all its hosts), and 3000 in total (RFC
/// 6265 §6.1). Beyond that, one that isn't secure is removed first, and of equal ones the oldest (draft 6265bis §5.7): of that
/// domain, of that site, or in total of the site that has the most. So a site can't remove another's cookies by setting many, nor
/// a server without TLS the secure ones of its domain.
public struct CookieJar: Sendable {
    private struct Entry {
        var cookie: Cookie
        let site: String
    }

    /// Ordered by their creation.
    private var entries: [Entry] = []
    /// The number of cookies of each site that has any.
    private var counts: [String: Int] = [:]

    private static let maxPerDomain = 50
    private static let maxPerSite = 180
    private static let maxTotal = 3000

    /// Creates an empty jar.
    public init() {}

    /// - Parameter cookies: of several with the same name, domain and path, the last one is kept.
    public init(_ cookies: some Sequence<Cookie>) {
        for cookie in cookies.sorted(by: { $0.creation < $1.creation }) { insert(cookie) }
    }

    /// Includes expired cookies until ``store(setCookieLinesOf:from:now:)`` removes them.
    public var isEmpty: Bool { entries.isEmpty }

    /// Adds the cookies that a response sets, and removes those that it deletes or that have expired. Lines that are malformed,
    /// or that the request's origin may not set, are ignored.
    ///
    /// - Parameters:
    ///   - response: its `Set-Cookie` lines are applied in order.
    ///   - request: the request that the response belongs to; after redirects, the last one.
    ///   - now: the time that decides which cookies have expired.
    public mutating func store(setCookieLinesOf response: HTTPResponse, from request: HTTPRequest, now: UnixTime) {
        removeAll { $0.isExpired(at: now) }
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

    /// Sets or deletes a cookie. One that was set without TLS, where an attacker could have injected it, must not shadow one
    /// that was set over TLS.
    mutating func set(_ cookie: Cookie, by request: HTTPRequest, now: UnixTime) {
        guard request.origin.scheme == .https || !entries.contains(where: { cookie.shadows($0.cookie) }) else { return }
        if cookie.isExpired(at: now) {
            removeAll(where: cookie.replaces)
        } else {
            insert(cookie)
        }
    }

    private mutating func insert(_ cookie: Cookie) {
        if let old = entries.firstIndex(where: { cookie.replaces($0.cookie) }) {
            let creation = entries[old].cookie.creation
            entries[old].cookie = cookie
            entries[old].cookie.creation = creation
            return
        }
        let site = PublicSuffix.site(of: cookie.domain)
        entries.append(Entry(cookie: cookie, site: site))
        let count = (counts[site] ?? 0) + 1
        counts[site] = count
        // A domain has no more cookies than its site, so that most jars need no search.
        if count > Self.maxPerDomain { limit(to: Self.maxPerDomain) { $0.cookie.domain == cookie.domain } }
        if count > Self.maxPerSite { limit(to: Self.maxPerSite) { $0.site == site } }
        if entries.count > Self.maxTotal, let most = counts.values.max() {
            // Of several sites that have the most, the one with the oldest cookie.
            let largest = entries.first { counts[$0.site] == most }?.site
            limit(to: most - 1) { $0.site == largest }
        }
    }

    /// Removes one of the entries that meet a condition if there are more of them than the limit.
    private mutating func limit(to count: Int, _ isOne: (Entry) -> Bool) {
        let indices = entries.indices.filter { isOne(entries[$0]) }
        guard indices.count > count, let oldest = indices.first else { return }
        let removed = entries.remove(at: indices.first { !entries[$0].cookie.isSecure } ?? oldest)
        uncount(removed)
    }

    private mutating func removeAll(where isRemoved: (Cookie) -> Bool) {
        let removed = entries.filter { isRemoved($0.cookie) }
        guard !removed.isEmpty else { return }
        for entry in removed { uncount(entry) }
        entries.removeAll { isRemoved($0.cookie) }
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
