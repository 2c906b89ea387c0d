/// A cookie as a client keeps it (RFC 6265 §5.3): a value, and the requests that it may go with.
public struct Cookie: Sendable, Hashable {
    /// When a browser would send the cookie across sites. Kept for others to read: a host has no sites.
    public enum SameSite: String, Sendable {
        /// As the attribute has it (draft 6265bis §4.1.2.7): never across sites, on links to the site, always.
        case strict, lax, none
    }

    /// Case-sensitive; unlike a header's, it may hold spaces and what is no token.
    public let name: String
    /// As it was set: quotes stay, nothing is decoded. Redacted in ``description``.
    public let value: String
    /// Lower-case, international names in their ASCII form, without a leading dot; an IPv6 address without its brackets.
    public let domain: String
    /// Whether the cookie goes to `domain` alone, and to none of its subdomains.
    public let isHostOnly: Bool
    /// Begins with a slash.
    public let path: String
    /// Whether the cookie goes over `https` alone.
    public let isSecure: Bool
    /// Whether a browser would hide the cookie from scripts.
    public let isHTTPOnly: Bool
    /// Nil: the server did not say.
    public let sameSite: SameSite?
    /// In whole seconds, never before 1970-01-01T00:00:01Z; nil for a cookie that lasts as long as its session.
    public let expires: UnixTime?
    /// When the cookie was set first; a newer value doesn't change it.
    public internal(set) var creation: UnixTime

    /// Nil for what no server can set: an empty name, a control character or `;` anywhere, `=` in the name, a name and a
    /// value of more than 4096 bytes together, a domain that is no host's name or address, a path without its slash.
    public init?(
        name: String, value: String, domain: String, isHostOnly: Bool = true, path: String = "/", isSecure: Bool = false,
        isHTTPOnly: Bool = false, sameSite: SameSite? = nil, expires: UnixTime? = nil,
        creation: UnixTime = UnixTime(nanoseconds: 0)
    ) {
        guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "=")), path.utf8.first == UInt8(ascii: "/"),
            [name, value, path].allSatisfy({ $0.utf8.allSatisfy(Self.isCookieByte) }),
            name.utf8.count + value.utf8.count <= Self.mostBytes, let domain = Self.canonicalDomain(domain)
        else { return nil }
        self.name = name
        self.value = value
        self.domain = domain
        self.isHostOnly = isHostOnly
        self.path = path
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
        self.sameSite = sameSite
        // The form in which a cookie file can hold it, where 0 is no time.
        self.expires = expires.map { UnixTime(seconds: max(1, $0.seconds)) }
        self.creation = creation
    }

    /// Of a name and its value (RFC 6265 §6.1).
    private static let mostBytes = 4096

    private static func isCookieByte(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != 0x7F && byte != UInt8(ascii: ";")
    }

    /// RFC 6265 §5.1.2; nil for what no host is called.
    static func canonicalDomain(_ domain: String) -> String? {
        let ascii = domain.utf8.allSatisfy { $0 < 0x80 } ? domain.lowercased() : IDN.ascii(domain)
        guard let ascii, !ascii.isEmpty, ascii.utf8.allSatisfy(HTTPURL.isHostByte) else { return nil }
        return ascii
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        "\(name)=[redacted]; Domain=\(domain); Path=\(path)\(isHostOnly ? "; host only" : "")\(isSecure ? "; Secure" : "")"
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["cookie": description]) }
}
