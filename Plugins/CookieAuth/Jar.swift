internal import NevodPluginKit
internal import NevodSupport

/// The cookies of a session (RFC 6265 §5.3), which are the scheme's token. A value type without a clock: callers pass the time.
struct Jar: Equatable, Sendable {
    /// The cookies in the order of their creation.
    private(set) var cookies: [JarCookie] = []

    private static let mostOfOneDomain = 50
    /// The largest stored form; a token has at most 64 KiB.
    private static let mostBytes = 60 << 10

    init(_ cookies: [JarCookie] = []) {
        self.cookies = cookies
    }

    /// Stores the cookies that a response sets, and removes those that it deletes or that have expired. Malformed lines, and cookies
    /// that this server may not set, are ignored. Beyond 50 cookies of one domain, or 60 KiB in all, the oldest are removed.
    ///
    /// - Returns: the cookies of these lines that the jar has stored, including those that later lines replaced.
    @discardableResult
    mutating func store(
        _ lines: [String], from url: PageURL, at unixSeconds: Int64, _ suffixes: PublicSuffixes
    ) -> [JarCookie] {
        dropExpired(at: unixSeconds)
        var stored: [JarCookie] = []
        for line in lines {
            guard let cookie = JarCookie(setCookie: line, from: url, at: unixSeconds, suffixes),
                url.isSecure || !cookies.contains(where: cookie.shadows)
            else { continue }
            if cookie.isExpired(at: unixSeconds) {
                cookies.removeAll(where: cookie.replaces)
            } else {
                insert(cookie)
                stored.append(cookie)
            }
        }
        while encodedCount > Self.mostBytes { cookies.removeFirst() }
        return stored
    }

    private mutating func insert(_ cookie: JarCookie) {
        // A new value takes the old one's place.
        if let old = cookies.firstIndex(where: cookie.replaces) {
            cookies[old] = cookie
            return
        }
        cookies.append(cookie)
        let ofDomain = cookies.indices.filter { cookies[$0].domain == cookie.domain }
        if ofDomain.count > Self.mostOfOneDomain { cookies.remove(at: ofDomain[0]) }
    }

    mutating func dropExpired(at unixSeconds: Int64) {
        cookies.removeAll { $0.isExpired(at: unixSeconds) }
    }

    /// The cookies for a request in the order of sending: longer paths first, then the earlier set (RFC 6265 §5.4).
    func sent(to url: PageURL, at unixSeconds: Int64) -> [JarCookie] {
        let (host, path, isSecure) = (url.host, url.path, url.isSecure)
        return
            cookies
            .filter { $0.goes(to: host, path, isSecure: isSecure) && !$0.isExpired(at: unixSeconds) }
            .sorted { $0.path.utf8.count > $1.path.utf8.count }
    }

    /// The latest cookie of that name.
    func cookie(named name: String) -> JarCookie? { cookies.last { $0.name == name } }

    /// Whether a host gets any of the cookies, on some path. A host that gets none can't change the session.
    func reaches(_ host: String) -> Bool { cookies.contains { $0.goes(to: host) } }

    /// Whether the changes are worth a write: a cookie was added or removed, a value changed, or an expiry moved by a tenth of the time
    /// left. A session whose expiry moves with each request is thus not stored with each request.
    func isWorthKeeping(insteadOf old: Jar, at unixSeconds: Int64) -> Bool {
        var old = old
        old.dropExpired(at: unixSeconds)
        guard cookies.count == old.cookies.count else { return true }
        return !cookies.allSatisfy { cookie in
            guard let before = old.cookies.first(where: cookie.replaces), before.value == cookie.value,
                before.isSecure == cookie.isSecure, before.isHostOnly == cookie.isHostOnly
            else { return false }
            guard let end = cookie.expires, let endBefore = before.expires else { return cookie.expires == before.expires }
            let (moved, isFar) = end.subtractingReportingOverflow(endBefore)
            return !isFar && moved.magnitude < (end.subtractingReportingOverflow(unixSeconds).partialValue.magnitude + 9) / 10
        }
    }
}
