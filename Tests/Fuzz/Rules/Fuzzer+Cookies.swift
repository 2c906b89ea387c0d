import NevodSupport

@testable import NevodHost

extension Fuzzer {
    /// The origin by its number, then Set-Cookie lines.
    static let setCookie = Fuzzer("set-cookie") { input in
        var input = input
        let number = Int(input.byte()) % origins.count
        guard let request = try? HTTPRequest(.get, origins[number]) else { return expect(false, "an origin's URL is valid") }
        var jar = CookieJar()
        for line in input.lines {
            guard let cookie = Cookie(setCookie: line, from: request, now: now) else { continue }
            check(cookie, line, request)
            jar.set(cookie, by: request, now: now)
        }
        guard let line = jar.cookieLine(for: request, now: now) else { return }
        expect(HTTPSyntax.isFieldValue(line), "a Cookie line is a field value")
    }

    private static let now = UnixTime(seconds: 1_800_000_000)
    private static let origins = [
        "https://app.example.com/a/b?c", "http://app.example.com/", "https://127.0.0.1:8443/", "https://[::1]/a",
        "https://co.uk/",
        "https://xn--bcher-kva.example/",
    ]

    private static func check(_ cookie: Cookie, _ line: String, _ request: HTTPRequest) {
        let host = request.origin.host
        expect(
            cookie.isHostOnly ? cookie.domain == host : CookieScope.host(host, matches: cookie.domain), "a domain is the host's")
        expect(!cookie.isSecure || request.origin.scheme == .https, "a secure cookie comes over TLS")
        let name = cookie.name.lowercased().utf8
        if name.starts(with: "__host-".utf8) {
            expect(
                cookie.isSecure && cookie.isHostOnly && cookie.path == "/" && SetCookieLine(line)?.domain == nil,
                "__Host- keeps its promise")
        }
        if name.starts(with: "__secure-".utf8) { expect(cookie.isSecure, "__Secure- keeps its promise") }
        checkFile([cookie])
    }

    /// A cookie file in Netscape's format.
    static let cookieFile = Fuzzer("cookie-file") { input in
        guard let cookies = try? CookieFile.decode(input.bytes) else { return }
        checkFile(cookies)
    }

    private static func checkFile(_ cookies: [Cookie]) {
        guard let again = try? CookieFile.decode(CookieFile.encode(cookies)) else {
            return expect(false, "a written cookie file is read again")
        }
        expect(again.map(fields) == cookies.map(fields), "cookies are read as they were written")
    }

    /// The fields that a file has.
    private static func fields(of cookie: Cookie) -> [String] {
        [
            cookie.name, cookie.value, cookie.domain, cookie.path, "\(cookie.isHostOnly)", "\(cookie.isSecure)",
            "\(cookie.isHTTPOnly)", "\(cookie.expires?.seconds ?? 0)",
        ]
    }
}
