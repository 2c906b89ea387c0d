internal import NevodPluginKit
internal import NevodSupport

/// The cookies of a session (RFC 6265 §5.3): what the token holds. A value, which is told the time.
struct Jar: Equatable, Sendable {
    /// In the order of their creation.
    private(set) var cookies: [JarCookie] = []

    private static let mostOfOneDomain = 50
    /// Of the token, which has 64 KiB at most.
    private static let mostBytes = 60 << 10

    init(_ cookies: [JarCookie] = []) {
        self.cookies = cookies
    }

    /// Takes in what an answer sets, and takes out what it deletes, and what has expired. Lines that this server may not set, or
    /// that are malformed, are passed over. Beyond 50 cookies of one domain, or 60 KiB in all, those that were set first go.
    ///
    /// - Returns: the cookies of these lines that the jar now holds, or has replaced by later ones.
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
        // A new value stays in the old one's place.
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

    /// Those that go with a request, in the order in which they are sent: longer paths first, then the earlier set
    /// (RFC 6265 §5.4).
    func sent(to url: PageURL, at unixSeconds: Int64) -> [JarCookie] {
        let (host, path, isSecure) = (url.host, url.path, url.isSecure)
        return
            cookies
            .filter { $0.goes(to: host, path, isSecure: isSecure) && !$0.isExpired(at: unixSeconds) }
            .sorted { $0.path.utf8.count > $1.path.utf8.count }
    }

    /// The last one of that name that was created.
    func cookie(named name: String) -> JarCookie? { cookies.last { $0.name == name } }

    /// Whether a host gets any of the cookies, on some path. One that gets none has no say in the session.
    func reaches(_ host: String) -> Bool { cookies.contains { $0.goes(to: host) } }

    /// Whether what has changed is worth a write: a cookie came or went, a value is another, or an end has moved by a tenth of
    /// the time that is left. So a session that slides with every request is not stored with every request.
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
