internal import NevodPluginKit
internal import NevodSupport

/// A stored cookie (RFC 6265 §5.3): its value, and the requests that it goes with.
struct JarCookie: Equatable, Sendable {
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
    let expires: Int64?
}

extension JarCookie {
    /// The longest name and value together (RFC 6265 §6.1), and the longest path.
    private static let mostBytes = 4096
    private static let mostOfPath = 1024

    /// Reads a `Set-Cookie` line (RFC 6265 §5.2, §5.3), with the prefixes of its successor.
    ///
    /// - Returns: nil for a malformed line, and for a cookie that the server may not set.
    init?(setCookie text: String, from url: PageURL, at unixSeconds: Int64, _ suffixes: PublicSuffixes) {
        guard let line = SetCookieLine(text) else { return nil }
        let host = url.host
        var (domain, isHostOnly) = (host, true)
        if let attribute = line.domain {
            // An attribute that isn't in its ASCII form matches no host.
            domain = attribute.lowercased()
            guard CookieScope.host(host, matches: domain) else { return nil }
            let isWide = suffixes.contains(domain) == false
            guard isWide || domain == host else { return nil }
            isHostOnly = !isWide || CookieScope.isAddress(host)
        }
        let path = line.path ?? CookieScope.defaultPath(of: url.path)
        guard !line.name.isEmpty, line.name.utf8.count + line.value.utf8.count <= Self.mostBytes,
            path.utf8.count <= Self.mostOfPath, ![line.name, line.value, path].contains(where: { $0.utf8.contains(0x09) }),
            url.isSecure || !line.isSecure, line.keepsItsPrefix(isHostOnly: isHostOnly)
        else { return nil }
        self.init(
            name: line.name, value: Secret(line.value), domain: domain, isHostOnly: isHostOnly, path: path,
            isSecure: line.isSecure, expires: line.expiry(setAt: unixSeconds))
    }

    /// Whether the cookie's domain matches a host.
    func goes(to host: String) -> Bool {
        host == domain || !isHostOnly && CookieScope.host(host, matches: domain)
    }

    /// Whether the cookie goes with a request (RFC 6265 §5.4).
    ///
    /// - Parameter path: a ``PageURL/path``.
    func goes(to host: String, _ path: String, isSecure: Bool) -> Bool {
        goes(to: host) && (isSecure || !self.isSecure) && CookieScope.path(path, matches: self.path)
    }

    func isExpired(at unixSeconds: Int64) -> Bool {
        expires.map { $0 <= unixSeconds } ?? false
    }

    /// Whether both are the same cookie, perhaps with different values (RFC 6265 §5.3).
    func replaces(_ other: JarCookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path
    }

    /// Whether this cookie, set without TLS, would shadow another that was set over TLS (draft 6265bis §5.7).
    func shadows(_ other: JarCookie) -> Bool {
        other.isSecure && !isSecure && name == other.name && CookieScope.path(path, matches: other.path)
            && (CookieScope.host(domain, matches: other.domain) || CookieScope.host(other.domain, matches: domain))
    }
}
