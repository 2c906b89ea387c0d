internal import NevodSupport

extension Cookie {
    /// Whether the cookie may be sent with a request (RFC 6265 §5.4).
    func matches(_ request: HTTPRequest) -> Bool {
        matches(host: request.origin.host) && CookieScope.path(request.cookiePath, matches: path)
            && (!isSecure || request.origin.scheme == .https)
    }

    /// Whether the cookie has expired; always false for a session cookie.
    func isExpired(at now: UnixTime) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether this cookie replaces the other one in a store (RFC 6265 §5.3).
    func replaces(_ other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path
    }

    /// Whether this cookie, set without encryption, would shadow one that was set over TLS (draft 6265bis §5.7).
    func shadows(_ other: Cookie) -> Bool {
        other.isSecure && !isSecure && name == other.name && CookieScope.path(path, matches: other.path)
            && (CookieScope.host(domain, matches: other.domain) || CookieScope.host(other.domain, matches: domain))
    }

    /// Checks public suffixes again: cookies from files and other stores did not go through the check in
    /// ``init(setCookie:from:now:)``.
    private func matches(host: String) -> Bool {
        host == domain || !isHostOnly && CookieScope.host(host, matches: domain) && !PublicSuffix.contains(domain)
    }
}
