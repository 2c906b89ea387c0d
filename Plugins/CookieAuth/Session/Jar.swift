internal import NevodPluginKit
internal import NevodSupport

/// The cookies of a session (RFC 6265 §5.3), which are the scheme's token. A value type without a clock: callers pass the time.
struct Jar: Equatable, Sendable {
    /// The cookies in the order of their creation.
    private(set) var cookies: [JarCookie] = []

    /// The size limit of the stored form; a token is at most 64 KiB.
    private static let mostBytes = 60 << 10

    init(_ cookies: [JarCookie] = []) {
        self.cookies = cookies
    }

    /// Stores the cookies that a response sets, and removes those that it deletes or that have expired. Ignores malformed lines,
    /// and cookies that this server may not set.
    ///
    /// If one domain has more than 50 cookies, one of its cookies is removed. If the jar is larger than 60 KiB, the domain that
    /// uses the most bytes loses a cookie. Cookies that aren't secure go first, then the oldest (draft 6265bis §5.7).
    ///
    /// - Returns: the cookies that the jar stored from these lines, including cookies that later lines replaced.
    @discardableResult
    mutating func store(
        _ lines: [String], from url: PageURL, at unixSeconds: Int64, _ suffixes: PublicSuffixes
    ) -> [JarCookie] {
        dropExpired(at: unixSeconds)
        var stored: [JarCookie] = []
        for line in lines {
            guard let cookie = JarCookie(setCookie: line, from: url, at: unixSeconds, suffixes),
                cookies.set(cookie, overTLS: url.isSecure, at: unixSeconds).isStored
            else { continue }
            stored.append(cookie)
            cookies.limit(to: JarCookie.mostOfOneDomain) { $0.domain == cookie.domain }
        }
        var size = encodedCount
        while size > Self.mostBytes, let largest, let removed = cookies.limit(to: 0, where: { $0.domain == largest }) {
            size -= removed.encodedCount
        }
        return stored
    }

    /// The domain whose cookies have the most bytes; nil if there are no cookies.
    private var largest: String? {
        var sizes: [(domain: String, bytes: Int)] = []
        for cookie in cookies {
            if let index = sizes.firstIndex(where: { $0.domain.equals(cookie.domain) }) {
                sizes[index].bytes += cookie.encodedCount
            } else {
                sizes.append((cookie.domain, cookie.encodedCount))
            }
        }
        return sizes.max { $0.bytes < $1.bytes }?.domain
    }

    mutating func dropExpired(at unixSeconds: Int64) {
        cookies.removeAll { $0.isExpired(at: unixSeconds) }
    }

    /// The cookies for a request, in the order of sending: longer paths first, then older cookies (RFC 6265 §5.4).
    func sent(to url: PageURL, at unixSeconds: Int64) -> [JarCookie] {
        let (host, path) = (url.host, url.path)
        return
            cookies
            .filter { $0.goes(to: host) && $0.goes(toPath: path, overTLS: url.isSecure) && !$0.isExpired(at: unixSeconds) }
            .inSendingOrder
    }

    /// The latest cookie of that name.
    func cookie(named name: String) -> JarCookie? { cookies.last { $0.name == name } }

    /// Whether a host gets any of the cookies, on any path. A host that gets none can't change the session.
    func reaches(_ host: String) -> Bool { cookies.contains { $0.goes(to: host) } }

    /// Whether the changes are worth a write: a cookie was added or removed, a value changed, or an expiry moved by a tenth of the
    /// time left. So a session that extends its expiry with each request isn't stored each time.
    func isWorthKeeping(insteadOf old: Jar, at unixSeconds: Int64) -> Bool {
        var old = old
        old.dropExpired(at: unixSeconds)
        guard cookies.count == old.cookies.count else { return true }
        return !cookies.allSatisfy { cookie in
            guard let before = old.cookies.first(where: { cookie.replaces($0) }), before.value == cookie.value,
                before.isSecure == cookie.isSecure, before.isHostOnly == cookie.isHostOnly
            else { return false }
            guard let end = cookie.expiry, let endBefore = before.expiry else { return cookie.expiry == before.expiry }
            let (moved, isFar) = end.subtractingReportingOverflow(endBefore)
            return !isFar && moved.magnitude < (end.subtractingReportingOverflow(unixSeconds).partialValue.magnitude + 9) / 10
        }
    }
}

/// A stored cookie (RFC 6265 §5.3): its value, and the requests that it goes with.
struct JarCookie: StoredCookie, Equatable, Sendable {
    let name: String
    /// The value as it was set.
    let value: Secret
    /// The domain in lower case, without a leading dot; an IPv6 address without its brackets.
    let domain: String
    let isHostOnly: Bool
    /// The path, which begins with a slash.
    let path: String
    let isSecure: Bool
    /// The expiry in seconds since 1970 UTC; nil for a session cookie.
    let expiry: Int64?
}

extension JarCookie {
    private static let mostOfPath = 1024

    /// Reads a `Set-Cookie` line (RFC 6265 §5.2, §5.3), with the prefixes of its successor.
    ///
    /// - Returns: nil for a malformed line, or for a cookie that the server may not set.
    init?(setCookie text: String, from url: PageURL, at unixSeconds: Int64, _ suffixes: PublicSuffixes) {
        // A domain that isn't in its ASCII form matches no host.
        guard let line = SetCookieLine(text),
            let (domain, isHostOnly) = line.scope(
                setBy: url.host, overTLS: url.isSecure, canonical: { $0.lowercasedASCII },
                isPublicSuffix: { suffixes.contains($0) != false })
        else { return nil }
        let path = line.path ?? CookieScope.defaultPath(of: url.path)
        guard !line.name.isEmpty, line.name.utf8.count + line.value.utf8.count <= Self.mostBytes,
            path.utf8.count <= Self.mostOfPath, ![line.name, line.value, path].contains(where: { $0.utf8.contains(0x09) })
        else { return nil }
        self.init(
            name: line.name, value: Secret(line.value), domain: domain, isHostOnly: isHostOnly, path: path,
            isSecure: line.isSecure, expiry: line.expiry(setAt: unixSeconds))
    }
}
