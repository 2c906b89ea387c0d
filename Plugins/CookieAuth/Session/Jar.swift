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
    /// that this server may not set, are ignored.
    ///
    /// Beyond 50 cookies of one domain, or 60 KiB in all, a cookie is removed: of that domain, or of the one with the most bytes; one
    /// that isn't secure first, and of equal ones the oldest (draft 6265bis §5.7).
    ///
    /// - Returns: the cookies of these lines that the jar has stored, including those that later lines replaced.
    @discardableResult
    mutating func store(
        _ lines: [String], from url: PageURL, at unixSeconds: Int64, _ suffixes: PublicSuffixes
    ) -> [JarCookie] {
        dropExpired(at: unixSeconds)
        var size = encodedCount
        var stored: [JarCookie] = []
        for line in lines {
            guard let cookie = JarCookie(setCookie: line, from: url, at: unixSeconds, suffixes),
                url.isSecure || !cookies.contains(where: cookie.shadows)
            else { continue }
            let isExpired = cookie.isExpired(at: unixSeconds)
            // A new value takes the old one's place.
            if let old = cookies.firstIndex(where: cookie.replaces) {
                size -= cookies[old].encodedCount
                if isExpired { cookies.remove(at: old) } else { cookies[old] = cookie }
            } else if !isExpired {
                cookies.append(cookie)
            }
            guard !isExpired else { continue }
            size += cookie.encodedCount
            stored.append(cookie)
            if cookies.count(where: { $0.domain == cookie.domain }) > Self.mostOfOneDomain { size -= remove(of: cookie.domain) }
            while size > Self.mostBytes, let largest { size -= remove(of: largest) }
        }
        return stored
    }

    /// The domain whose cookies have the most bytes; nil if there are no cookies.
    private var largest: String? {
        var sizes: [String: Int] = [:]
        for cookie in cookies { sizes[cookie.domain, default: 0] += cookie.encodedCount }
        return sizes.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
    }

    /// Removes a cookie of a domain, and returns its size in bytes.
    private mutating func remove(of domain: String) -> Int {
        let index =
            cookies.firstIndex { $0.domain == domain && !$0.isSecure } ?? cookies.firstIndex { $0.domain == domain }
        return index.map { cookies.remove(at: $0).encodedCount } ?? 0
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
