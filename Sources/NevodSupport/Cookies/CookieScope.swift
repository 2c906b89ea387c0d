#if hasFeature(Embedded)
    private import CEmbeddedRuntime
#elseif canImport(Glibc)
    private import Glibc
#elseif canImport(Musl)
    private import Musl
#elseif canImport(Darwin)
    private import Darwin
#endif

/// Matches cookies with requests by domain and path (RFC 6265 §5.1). Ignores public suffixes.
public enum CookieScope {
    /// Whether a host is a domain or one of its subdomains (RFC 6265 §5.1.3).
    ///
    /// - Parameters:
    ///   - host: in lower case, without a port; an IPv6 address without its brackets.
    ///   - domain: in lower case, without a leading dot.
    public static func host(_ host: String, matches domain: String) -> Bool {
        host == domain || host.hasSuffix("." + domain) && !isAddress(host)
    }

    /// Whether a request's path matches a cookie's path (RFC 6265 §5.1.4).
    ///
    /// - Parameters:
    ///   - path: the request's path, without its query.
    ///   - cookiePath: the cookie's path, which begins with a slash.
    public static func path(_ path: String, matches cookiePath: String) -> Bool {
        guard path.utf8.starts(with: cookiePath.utf8) else { return false }
        let rest = path.utf8.dropFirst(cookiePath.utf8.count)
        return rest.isEmpty || rest.first == UInt8(ascii: "/") || cookiePath.utf8.last == UInt8(ascii: "/")
    }

    /// The path that cookies are matched with. Dot segments are resolved even if they are percent-encoded (RFC 3986 §6.2.2), as
    /// servers do, so that `/app/../admin` doesn't get the cookies of `/app`.
    ///
    /// - Parameter target: the request's target, with or without a query.
    package static func requestPath(of target: String) -> String {
        var path: [UInt8] = []
        var rest = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        while let byte = rest.popFirst() {
            let isDot = byte == UInt8(ascii: "%") && ["2e", "2E"].contains { rest.starts(with: $0.utf8) }
            path.append(isDot ? UInt8(ascii: ".") : byte)
            if isDot { rest = rest.dropFirst(2) }
        }
        return URLReference.withoutDots(String(decoding: path, as: UTF8.self))
    }

    /// The path of a cookie without a Path attribute: the folder of the requested path (RFC 6265 §5.1.4).
    public static func defaultPath(of path: String) -> String {
        let folder = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path[..<$0] } ?? ""
        return folder.isEmpty ? "/" : String(folder)
    }

    /// Whether a host is an IPv4 address in any spelling that resolvers accept (`127.1`, `0x7f000001`), or an IPv6 address.
    public static func isAddress(_ host: String) -> Bool {
        var address = in_addr()
        return host.utf8.contains(UInt8(ascii: ":")) || inet_aton(host.withoutDotsAtEnd, &address) != 0
    }
}

extension String {
    /// The host name without trailing dots. A trailing dot marks a name as complete, and doesn't change the host.
    package var withoutDotsAtEnd: String {
        var name = utf8[...]
        while name.last == UInt8(ascii: ".") { name.removeLast() }
        return String(Substring(name))
    }
}
