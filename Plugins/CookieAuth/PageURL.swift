internal import NevodPluginKit
internal import NevodSupport

/// An http or https URL, split as cookies and redirects need it.
final class PageURL: Equatable, Sendable {
    /// The scheme in lower case.
    let scheme: String
    /// The authority as in the Host header, in lower case: `api.example.com`, `[::1]:8443`; without a default port.
    let authority: String
    /// The path, which begins with a slash, and an optional query.
    let target: String

    init(scheme: String, authority: String, target: String) {
        self.scheme = scheme
        self.authority = authority
        self.target = target
    }

    /// Reads a URL; nil if it is invalid, or has another scheme.
    convenience init?(_ text: String) {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = text.utf8[scheme.endIndex...].dropFirst()
        guard rest.starts(with: "//".utf8), !text.utf8.contains(where: { $0 == 0x20 || $0.isControl }) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        let name = String(Substring(scheme)).lowercasedASCII
        let host = Self.normalized(String(Substring(authority)), name)
        guard name == "https" || name == "http", !host.isEmpty, !host.utf8.contains(UInt8(ascii: "@")) else { return nil }
        let path = rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") }
        self.init(
            scheme: name, authority: host,
            target: (path.first == UInt8(ascii: "/") ? "" : "/") + String(Substring(path)))
    }

    /// The URL of a request. If the caller set a Host line, its host counts, because the session's cookies don't apply to another
    /// host on the same server.
    convenience init(of request: borrowing RequestView) {
        let scheme = String(copying: request.scheme)
        self.init(
            scheme: scheme, authority: Self.normalized(String(copying: request.authority), scheme),
            target: String(copying: request.target))
    }

    static func == (left: PageURL, right: PageURL) -> Bool {
        left.scheme == right.scheme && left.authority == right.authority && left.target == right.target
    }

    private static func normalized(_ authority: String, _ scheme: String) -> String {
        let authority = authority.lowercasedASCII
        let port = scheme == "https" ? ":443" : ":80"
        let end = authority.hasSuffix(port) ? port.utf8.count : authority.hasSuffix(":") ? 1 : 0
        return String(Substring(authority.utf8.dropLast(end)))
    }

    var origin: String { "\(scheme)://\(authority)" }
    var text: String { origin + target }
    var isSecure: Bool { scheme == "https" }
    /// The path as cookies match it.
    var path: String { CookieScope.requestPath(of: target) }

    /// The host without a port; an IPv6 address without its brackets.
    var host: String {
        guard authority.utf8.first == UInt8(ascii: "[") else {
            return String(Substring(authority.utf8.prefix { $0 != UInt8(ascii: ":") }))
        }
        return String(Substring(authority.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }))
    }

    /// The target of a Location, a link or a form (RFC 3986 §5.2); nil if it isn't an http or https URL. Tabs and line breaks in it
    /// are dropped, as browsers do (WHATWG URL §4.4).
    func resolving(_ reference: String) -> PageURL? {
        let reference = reference.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
        return PageURL(URLReference(String(decoding: reference, as: UTF8.self)).resolved(against: origin, target))
    }
}

extension String {
    init(copying bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
