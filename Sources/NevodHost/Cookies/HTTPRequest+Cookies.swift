internal import NevodSupport

extension HTTPRequest {
    /// The path that cookies are matched with.
    var cookiePath: String { CookieScope.requestPath(of: target) }

    /// Adds cookies to the one Cookie line, in this order, in place of what stands there under their names (RFC 6265 §5.4).
    /// Two of one name may differ in their paths. Values go back as the server wrote them, with quotes, commas and spaces that
    /// ``setCookie(_:_:)`` refuses.
    mutating func setCookies(_ cookies: [Cookie]) throws(InvalidRequestError) {
        try setCookies(cookies.map { ($0.name, $0.value) })
    }

    mutating func setCookies(_ cookies: [(name: String, value: String)]) throws(InvalidRequestError) {
        guard !cookies.isEmpty else { return }
        let names = Set(cookies.map(\.name))
        let kept = headers.values(of: "Cookie")
            .flatMap { $0.utf8.split(separator: UInt8(ascii: ";")) }
            .filter { !names.contains($0.prefix { $0 != UInt8(ascii: "=") }.withoutSpaceAround) }
            .map(\.withoutSpaceAround)
        let line = kept + cookies.map { "\($0.name)=\($0.value)" }
        try setHeader("Cookie", line.joined(separator: "; "))
    }
}

extension Sequence<Cookie> {
    /// Those that go with a request, in the order in which they are sent: longer paths first, then the earlier set
    /// (RFC 6265 §5.4).
    func sent(with request: HTTPRequest, now: UnixTime) -> [Cookie] {
        filter { $0.matches(request) && !$0.isExpired(at: now) }.sorted {
            ($1.path.utf8.count, $0.creation) < ($0.path.utf8.count, $1.creation)
        }
    }

    /// The value of a Cookie line.
    var cookieLine: String { map { "\($0.name)=\($0.value)" }.joined(separator: "; ") }
}
