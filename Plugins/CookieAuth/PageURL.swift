internal import NevodPluginKit
internal import NevodSupport

/// An http or https URL, taken apart as far as cookies and redirects ask.
struct PageURL: Equatable, Sendable {
    /// In lower case.
    let scheme: String
    /// As in the Host header, in lower case: `api.example.com`, `[::1]:8443`; without a default port.
    let authority: String
    /// Begins with a slash; a query may follow.
    let target: String

    init(scheme: String, authority: String, target: String) {
        self.scheme = scheme
        self.authority = authority
        self.target = target
    }

    /// Nil for another scheme, and for what is no URL.
    init?(_ text: String) {
        let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
        let rest = text.utf8[scheme.endIndex...].dropFirst()
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        let name = String(Substring(scheme)).lowercased()
        let port = name == "https" ? ":443" : ":80"
        var host = String(Substring(authority)).lowercased()
        guard name == "https" || name == "http", !host.isEmpty, !host.utf8.contains(UInt8(ascii: "@")) else { return nil }
        if host.hasSuffix(port) { host.removeLast(port.utf8.count) }
        if host.hasSuffix(":") { host.removeLast() }
        let path = rest[authority.endIndex...].prefix { $0 != UInt8(ascii: "#") }
        self.init(
            scheme: name, authority: host,
            target: (path.first == UInt8(ascii: "/") ? "" : "/") + String(Substring(path)))
    }

    /// The one that a request goes to.
    init(of request: borrowing RequestView) {
        self.init(
            scheme: String(copying: request.scheme), authority: String(copying: request.authority),
            target: String(copying: request.target))
    }

    var origin: String { "\(scheme)://\(authority)" }
    var text: String { origin + target }
    var isSecure: Bool { scheme == "https" }
    /// As cookies are matched with it.
    var path: String { CookieScope.requestPath(of: target) }

    /// Without a port; an IPv6 address without its brackets.
    var host: String {
        guard authority.utf8.first == UInt8(ascii: "[") else {
            return String(Substring(authority.utf8.prefix { $0 != UInt8(ascii: ":") }))
        }
        return String(Substring(authority.utf8.dropFirst().prefix { $0 != UInt8(ascii: "]") }))
    }

    /// Where a Location leads (RFC 3986 §5.2); nil where that is no page.
    func resolving(_ reference: String) -> PageURL? {
        PageURL(URLReference(reference).resolved(against: origin, target))
    }
}

extension String {
    fileprivate init(copying bytes: Span<UInt8>) {
        self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
