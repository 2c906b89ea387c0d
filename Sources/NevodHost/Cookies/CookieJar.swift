/// The cookies of any number of hosts (RFC 6265 §5.3). A value without I/O or a clock of its own.
///
/// ```swift
/// var jar = CookieJar()
/// jar.store(setCookieLinesOf: response, from: request, now: now)
/// if let line = jar.cookieLine(for: next, now: now) { try next.setHeader("Cookie", line) }
/// ```
///
/// Holds at most 50 cookies for each domain and 3000 in total (RFC 6265 §6.1); beyond that, the oldest are removed.
public struct CookieJar: Sendable {
    /// Ordered by their creation.
    private var cookies: [Cookie] = []

    private static let maxPerDomain = 50
    private static let maxTotal = 3000

    /// Creates an empty jar.
    public init() {}

    /// - Parameter cookies: of several with the same name, domain and path, the last one is kept.
    public init(_ cookies: some Sequence<Cookie>) {
        for cookie in cookies.sorted(by: { $0.creation < $1.creation }) { insert(cookie) }
    }

    /// Includes expired cookies until ``store(setCookieLinesOf:from:now:)`` removes them.
    public var isEmpty: Bool { cookies.isEmpty }

    /// Adds the cookies that a response sets, and removes those that it deletes or that have expired. Lines that are malformed,
    /// or that the request's origin may not set, are ignored.
    ///
    /// - Parameters:
    ///   - response: its `Set-Cookie` lines are applied in order.
    ///   - request: the request that the response belongs to; after redirects, the last one.
    ///   - now: the time that decides which cookies have expired.
    public mutating func store(setCookieLinesOf response: HTTPResponse, from request: HTTPRequest, now: UnixTime) {
        cookies.removeAll { $0.isExpired(at: now) }
        for cookie in Cookie.cookies(setBy: response, to: request, now: now) { set(cookie, by: request, now: now) }
    }

    /// The cookies to send with a request, in order: longer paths first, then the earlier created (RFC 6265 §5.4).
    public func cookies(for request: HTTPRequest, now: UnixTime) -> [Cookie] {
        cookies.sent(with: request, now: now)
    }

    /// The value of a request's Cookie line; nil if no cookie matches it.
    public func cookieLine(for request: HTTPRequest, now: UnixTime) -> String? {
        let cookies = cookies(for: request, now: now)
        return cookies.isEmpty ? nil : cookies.cookieLine
    }

    /// Sets or deletes a cookie. One that was set without TLS, where an attacker could have injected it, must not shadow one
    /// that was set over TLS.
    mutating func set(_ cookie: Cookie, by request: HTTPRequest, now: UnixTime) {
        guard request.origin.scheme == .https || !cookies.contains(where: cookie.shadows) else { return }
        if cookie.isExpired(at: now) {
            cookies.removeAll(where: cookie.replaces)
        } else {
            insert(cookie)
        }
    }

    private mutating func insert(_ cookie: Cookie) {
        if let old = cookies.firstIndex(where: cookie.replaces) {
            let creation = cookies[old].creation
            cookies[old] = cookie
            cookies[old].creation = creation
            return
        }
        cookies.append(cookie)
        let ofDomain = cookies.indices.filter { cookies[$0].domain == cookie.domain }
        if ofDomain.count > Self.maxPerDomain { cookies.remove(at: ofDomain[0]) }
        if cookies.count > Self.maxTotal { cookies.removeFirst() }
    }
}

extension CookieJar: Sequence {
    /// Iterates in the order of creation.
    public func makeIterator() -> IndexingIterator<[Cookie]> {
        cookies.makeIterator()
    }
}
