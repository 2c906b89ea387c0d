internal import NevodSupport

/// A cookie as a client stores it (RFC 6265 §5.3): a value, and the requests that it may be sent with.
public struct Cookie: Sendable, Hashable {
    /// When a browser would send the cookie across sites. Stored, but not used: the host has no notion of sites.
    public enum SameSite: String, Sendable {
        /// The values of the attribute (draft 6265bis §4.1.2.7): never across sites, only when following links, always.
        case strict, lax, none
    }

    /// Case-sensitive. Unlike a header's name, it needn't be a token, and may contain spaces.
    public let name: String
    /// Exactly as it was set: quotes are kept, and nothing is decoded. Redacted in ``description``.
    public let value: String
    /// Lower-case, international names in their ASCII form, without a leading dot; an IPv6 address without its brackets.
    public let domain: String
    /// Whether the cookie is sent to `domain` only, and not to its subdomains.
    public let isHostOnly: Bool
    /// Starts with a slash.
    public let path: String
    /// Whether the cookie is sent over `https` only.
    public let isSecure: Bool
    /// Whether a browser would hide the cookie from scripts.
    public let isHTTPOnly: Bool
    /// Nil if the server did not say.
    public let sameSite: SameSite?
    /// In whole seconds, never before 1970-01-01T00:00:01Z; nil for a session cookie.
    public let expires: UnixTime?
    /// When the cookie was first set. A new value doesn't change it.
    public internal(set) var creation: UnixTime

    /// Returns nil for a cookie that no server can set: an empty name, a control character or `;` anywhere, `=` in the name, a
    /// name and a value of more than 4096 bytes together, a domain that isn't a host name or address, a path that doesn't start
    /// with a slash, or a name that begins with `__Host-` or `__Secure-` without the properties that the prefix promises (draft
    /// 6265bis §4.1.3).
    public init?(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = false, sameSite: SameSite? = nil, expires: UnixTime? = nil,
        creation: UnixTime = UnixTime(nanoseconds: 0)
    ) {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")), path.utf8.first == UInt8(ascii: "/"),
            [name, value, path].allSatisfy({ $0.utf8.allSatisfy(\.isCookieByte) }),
            name.utf8.count + value.utf8.count <= Self.mostBytes, let domain = Self.canonicalDomain(domain),
            CookieName.keepsItsPrefix(name, isSecure: isSecure, isHostOnly: isHostOnly, path: path)
        else { return nil }
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        // At least 1, and in whole seconds: a cookie file holds only whole seconds, and 0 means a session cookie there.
        self.expires = expires.map { UnixTime(seconds: max(1, $0.seconds)) }
        self.creation = creation
    }

    /// The canonical form by RFC 6265 §5.1.2; nil if it is not a valid host.
    static func canonicalDomain(_ domain: String) -> String? {
        // A domain has no brackets, unlike the host of a URL.
        guard domain.utf8.first != UInt8(ascii: "[") else { return nil }
        return domain.utf8.contains(UInt8(ascii: ":")) ? URLHost.ipv6(domain.utf8) : URLHost.canonical(domain[...].utf8)
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "\(name)=[redacted]; Domain=\(domain); Path=\(path)\(isHostOnly ? "; host only" : "")\(isSecure ? "; Secure" : "")"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}

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
        guard let line = SetCookieLine(line),
            let (domain, isHostOnly) = line.scope(
                setBy: request.origin.host, overTLS: request.origin.scheme == .https, canonical: Self.canonicalDomain,
                isPublicSuffix: PublicSuffix.contains)
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

extension Cookie: StoredCookie {
    package var expiry: Int64? { expires?.seconds }

    package func replacing(_ old: Cookie) -> Cookie {
        var cookie = self
        cookie.creation = old.creation
        return cookie
    }
}

extension Cookie {
    /// Whether the cookie may be sent with a request (RFC 6265 §5.4).
    func matches(_ request: HTTPRequest) -> Bool {
        let host = request.origin.host
        // Checks public suffixes again: cookies from files and other stores did not go through the check of a Set-Cookie line.
        return goes(to: host) && (host == domain || !PublicSuffix.contains(domain))
            && goes(toPath: request.cookiePath, overTLS: request.origin.scheme == .https)
    }

    /// Whether the cookie has expired; always false for a session cookie.
    func isExpired(at now: UnixTime) -> Bool {
        isExpired(at: now.seconds)
    }
}
