internal import NevodSupport

extension Cookie {
    /// Whether the cookie may go with a request (RFC 6265 §5.4).
    func matches(_ request: HTTPRequest) -> Bool {
        matches(host: request.origin.host) && CookieScope.path(request.cookiePath, matches: path)
            && (!isSecure || request.origin.scheme == .https)
    }

    /// Whether the cookie's end has come; never for one that lasts as long as its session.
    public func isExpired(at now: UnixTime) -> Bool {
        expires.map { $0 <= now } ?? false
    }

    /// Whether one of them takes the other's place in a store (RFC 6265 §5.3).
    func replaces(_ other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path
    }

    /// Whether this one, set without encryption, would shadow another that was set with it (draft 6265bis §5.7).
    func shadows(_ other: Cookie) -> Bool {
        other.isSecure && !isSecure && name == other.name && CookieScope.path(path, matches: other.path)
            && (CookieScope.host(domain, matches: other.domain) || CookieScope.host(other.domain, matches: domain))
    }

    /// The public suffixes are looked up here too, since not every cookie was set by a server before our eyes: some come from
    /// files, and from stores that don't know of suffixes.
    private func matches(host: String) -> Bool {
        host == domain || !isHostOnly && CookieScope.host(host, matches: domain) && !PublicSuffix.contains(domain)
    }
}
