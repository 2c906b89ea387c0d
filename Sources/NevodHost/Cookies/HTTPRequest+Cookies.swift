internal import NevodSupport

extension HTTPRequest {
    /// The path to match cookies against.
    var cookiePath: String { CookieScope.requestPath(of: target) }

    /// Adds cookies to the single Cookie line, in this order, replacing those of the same names (RFC 6265 §5.4). Several
    /// cookies of one name may differ in their paths. Values are sent as the server set them, including quotes, commas and
    /// spaces that ``setCookie(_:_:)`` refuses.
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
    /// The cookies to send with a request, in order: longer paths first, then the earlier created (RFC 6265 §5.4).
    func sent(with request: HTTPRequest, now: UnixTime) -> [Cookie] {
        filter { $0.matches(request) && !$0.isExpired(at: now) }.sorted {
            ($1.path.utf8.count, $0.creation) < ($0.path.utf8.count, $1.creation)
        }
    }

    /// These cookies as the value of a Cookie line.
    var cookieLine: String { map { "\($0.name)=\($0.value)" }.joined(separator: "; ") }
}
