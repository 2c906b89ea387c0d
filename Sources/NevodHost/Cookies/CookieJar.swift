/// The cookies of many hosts (RFC 6265 §5.3). A value: it does no I/O, and is told the time.
///
/// ```swift
/// var jar = CookieJar()
/// jar.store(setCookieLinesOf: response, from: request, now: now)
/// if let line = jar.cookieLine(for: next, now: now) { try next.setHeader("Cookie", line) }
/// ```
///
/// It holds 50 cookies of one domain and 3000 in all (RFC 6265 §6.1); beyond that, those that were set first go.
public struct CookieJar: Sendable {
    /// In the order of their creation.
    private var cookies: [Cookie] = []

    private static let mostOfOneDomain = 50
    private static let most = 3000

    /// A jar without cookies.
    public init() {}

    /// - Parameter cookies: of two with one name, domain and path, the jar holds the last.
    public init(_ cookies: some Sequence<Cookie>) {
        for cookie in cookies.sorted(by: { $0.creation < $1.creation }) { insert(cookie) }
    }

    /// Expired cookies count until ``store(setCookieLinesOf:from:now:)`` takes them out.
    public var isEmpty: Bool { cookies.isEmpty }

    /// Takes in what an answer sets, takes out what it deletes, and whatever has expired by now. Lines that the request's
    /// origin may not set, or that are malformed, are passed over.
    ///
    /// - Parameters:
    ///   - response: its `Set-Cookie` lines are read, in their order.
    ///   - request: the one that was answered: after redirects, the last.
    ///   - now: what tells which cookies have expired.
    public mutating func store(setCookieLinesOf response: HTTPResponse, from request: HTTPRequest, now: UnixTime) {
        cookies.removeAll { $0.isExpired(at: now) }
        for cookie in Cookie.cookies(setBy: response, to: request, now: now) { set(cookie, by: request, now: now) }
    }

    /// Those that go with a request, in the order in which they are sent: longer paths first, then the earlier set
    /// (RFC 6265 §5.4).
    public func cookies(for request: HTTPRequest, now: UnixTime) -> [Cookie] {
        cookies.sent(with: request, now: now)
    }

    /// The value of a request's Cookie line; nil when no cookie goes with it.
    public func cookieLine(for request: HTTPRequest, now: UnixTime) -> String? {
        let cookies = cookies(for: request, now: now)
        return cookies.isEmpty ? nil : cookies.cookieLine
    }

    /// What arrived in clear, where anybody could have written it, doesn't shadow what was set over TLS.
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
        if ofDomain.count > Self.mostOfOneDomain { cookies.remove(at: ofDomain[0]) }
        if cookies.count > Self.most { cookies.removeFirst() }
    }
}

extension CookieJar: Sequence {
    /// In the order of their creation.
    public func makeIterator() -> IndexingIterator<[Cookie]> {
        cookies.makeIterator()
    }
}
