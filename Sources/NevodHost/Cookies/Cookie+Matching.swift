#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension Cookie {
    /// Whether the cookie may go with a request (RFC 6265 §5.4).
    func matches(_ request: HTTPRequest) -> Bool {
        matches(host: request.origin.host) && path(matches: request.cookiePath)
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
        other.isSecure && !isSecure && name == other.name && other.path(matches: path)
            && (Self.host(domain, matches: other.domain) || Self.host(other.domain, matches: domain))
    }

    /// The public suffixes are looked up here too, since not every cookie was set by a server before our eyes: some come from
    /// files, and from stores that don't know of suffixes.
    private func matches(host: String) -> Bool {
        host == domain || !isHostOnly && Self.host(host, matches: domain) && !PublicSuffix.contains(domain)
    }

    /// RFC 6265 §5.1.3.
    static func host(_ host: String, matches domain: String) -> Bool {
        host == domain || host.hasSuffix("." + domain) && !isAddress(host)
    }

    /// RFC 6265 §5.1.4.
    private func path(matches other: String) -> Bool {
        guard other.utf8.starts(with: path.utf8) else { return false }
        let rest = other.utf8.dropFirst(path.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") || path.utf8.last == UInt8(ascii: "/")
    }

    /// An IPv4 address in any spelling that resolvers take (`127.1`, `0x7f000001`), or an IPv6 address.
    static func isAddress(_ host: String) -> Bool {
        var address = in_addr()
        return host.utf8.contains(UInt8(ascii: ":")) || inet_aton(host.withoutDotsAtEnd, &address) != 0
    }
}

extension String {
    /// A dot at the end says that a host's name is complete; the host is the same.
    var withoutDotsAtEnd: String {
        String(self[..<(lastIndex { $0 != "." }.map(index(after:)) ?? startIndex)])
    }
}
