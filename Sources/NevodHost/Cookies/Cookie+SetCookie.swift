internal import NevodSupport

extension Cookie {
    /// Parses a `Set-Cookie` line (RFC 6265 §5.2, §5.3), with the name prefixes and limits of the draft 6265bis.
    ///
    /// - Parameters:
    ///   - line: the field's value.
    ///   - request: the request whose response has the line; its URL limits the domains that may be set.
    ///   - now: when the response arrived.
    /// - Returns: nil if the line is malformed, or sets a cookie that this origin may not set. The cookie may have expired
    ///   already: servers delete a cookie in this way.
    public init?(setCookie line: String, from request: HTTPRequest, now: UnixTime) {
        guard let line = SetCookieLine(line) else { return nil }
        let host = request.origin.host

        var domain = host
        var isHostOnly = true
        if let attribute = line.domain {
            guard let canonical = Self.canonicalDomain(attribute), CookieScope.host(host, matches: canonical) else { return nil }
            let isPublic = PublicSuffix.contains(canonical)
            guard canonical == host || !isPublic else { return nil }
            domain = canonical
            isHostOnly = isPublic || CookieScope.isAddress(host)
        }
        guard request.origin.scheme == .https || !line.isSecure,
            line.keepsItsPrefix(isHostOnly: isHostOnly)
        else { return nil }
        self.init(
            name: line.name, value: line.value, domain: domain, isHostOnly: isHostOnly,
            path: line.path ?? CookieScope.defaultPath(of: request.cookiePath), isSecure: line.isSecure,
            isHTTPOnly: line.isHTTPOnly, sameSite: line.sameSite.flatMap(SameSite.init),
            expires: line.expiry(setAt: now.seconds).map(UnixTime.init(seconds:)), creation: now)
    }

    /// The cookies that a response sets, in the order of its lines.
    static func cookies(setBy response: HTTPResponse, to request: HTTPRequest, now: UnixTime) -> [Cookie] {
        response.headers.values(of: "Set-Cookie").compactMap { Cookie(setCookie: $0, from: request, now: now) }
    }
}
