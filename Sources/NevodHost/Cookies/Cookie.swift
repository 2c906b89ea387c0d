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
    /// name and a value of more than 4096 bytes together, a domain that isn't a host name or address, a path that doesn't
    /// start with a slash, or a name that begins with `__Host-` or `__Secure-` without the properties that this promises (draft
    /// 6265bis §4.1.3).
    public init?(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = false, sameSite: SameSite? = nil, expires: UnixTime? = nil,
        creation: UnixTime = UnixTime(nanoseconds: 0)
    ) {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")), path.utf8.first == UInt8(ascii: "/"),
            [name, value, path].allSatisfy({ $0.utf8.allSatisfy(Self.isCookieByte) }),
            name.utf8.count + value.utf8.count <= Self.maxBytes, let domain = Self.canonicalDomain(domain),
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
        // In whole seconds from 1, since a cookie file holds whole seconds, where 0 means a session cookie.
        self.expires = expires.map { UnixTime(seconds: max(1, $0.seconds)) }
        self.creation = creation
    }

    /// The limit of a name and its value together (RFC 6265 §6.1).
    private static let maxBytes = 4096

    private static func isCookieByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: ";")
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
