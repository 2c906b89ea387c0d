/// A cookie in a client's store. An array of them, in the order of their creation, is a store.
///
/// The host's jar and the scheme of cookies have different cookies and limits, and share the rules (RFC 6265 §5.3 and §5.4, draft
/// 6265bis §5.7).
package protocol StoredCookie {
    var name: String { get }
    /// In lower case, without a leading dot; an IPv6 address without its brackets.
    var domain: String { get }
    /// Whether the cookie is sent to its domain alone, and not to subdomains.
    var isHostOnly: Bool { get }
    /// Begins with a slash.
    var path: String { get }
    /// Whether the cookie is sent over TLS only.
    var isSecure: Bool { get }
    /// In seconds since 1970 UTC; nil for a session cookie.
    var expiry: Int64? { get }

    /// The cookie as it takes the place of an old one. A cookie that knows its time of creation keeps the old one's.
    func replacing(_ old: Self) -> Self
}

extension StoredCookie {
    /// The limits on the bytes of a name and its value together, and on the cookies of one domain (RFC 6265 §6.1).
    package static var mostBytes: Int { 4096 }
    package static var mostOfOneDomain: Int { 50 }

    package func replacing(_ old: Self) -> Self { self }

    /// Whether both are the same cookie, perhaps with different values (RFC 6265 §5.3).
    package func replaces(_ other: Self) -> Bool {
        name == other.name && domain == other.domain && path == other.path
    }

    package func isExpired(at unixSeconds: Int64) -> Bool {
        expiry.map { $0 <= unixSeconds } ?? false
    }

    /// Whether the cookie's domain matches a host. Ignores public suffixes.
    package func goes(to host: String) -> Bool {
        host == domain || !isHostOnly && CookieScope.host(host, matches: domain)
    }

    /// Whether the cookie is sent with a request to a host that it goes to.
    ///
    /// - Parameter path: a ``CookieScope/requestPath(of:)``.
    package func goes(toPath path: String, overTLS: Bool) -> Bool {
        (overTLS || !isSecure) && CookieScope.path(path, matches: self.path)
    }
}

extension Array where Element: StoredCookie {
    /// Removes one of the cookies that meet a condition if there are more of them than a limit: one that isn't secure, or else the
    /// oldest. So a server without TLS can't remove the secure cookies of its domain.
    @discardableResult
    package mutating func limit(to most: Int, where isCounted: (Element) -> Bool) -> Element? {
        let counted = indices.filter { isCounted(self[$0]) }
        guard counted.count > most, let oldest = counted.first else { return nil }
        return remove(at: counted.first { !self[$0].isSecure } ?? oldest)
    }

    /// The cookies in the order of sending: longer paths first, then earlier ones.
    package var inSendingOrder: [Element] {
        enumerated().sorted { ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset) }
            .map { $0.element }
    }
}

/// A request's single Cookie line (RFC 6265 §5.4).
package enum CookieLine {
    /// The value of the line after adding cookies, in their order. They replace cookies of the same names.
    ///
    /// - Parameter lines: the values of the lines before.
    package static func merging(_ cookies: [(name: String, value: String)], into lines: [String]) -> String {
        let names = Set(cookies.map { $0.name })
        let kept = lines.flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }
            .filter { part in !names.contains(part.prefix { $0 != UInt8(ascii: "=") }.withoutSpaceAround) }
            .map { $0.withoutSpaceAround }
        return (kept + cookies.map { "\($0.name)=\($0.value)" }).joined(separator: "; ")
    }
}
