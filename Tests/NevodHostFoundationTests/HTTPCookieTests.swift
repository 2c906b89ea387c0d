import Foundation
import NevodHostFoundation
import Testing

@testable import NevodHost

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Conversion from and to Foundation's cookies.
struct HTTPCookieTests {
    private func foundation(_ fields: String, from url: String = "https://www.example.com/app/") throws -> [HTTPCookie] {
        HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": fields], for: try #require(URL(string: url)))
    }

    @Test func `Every property of an HTTPCookie is carried over`() throws {
        let cookies = try foundation(
            "a=1; Domain=example.com; Path=/x; Secure; HttpOnly; Expires=Wed, 09 Jun 2100 10:18:14 GMT, b=\"2\"; Path=/")
        #expect(
            cookies.map { Cookie($0) } == [
                Cookie(
                    name: "a", value: "1", domain: "example.com", isHostOnly: false, path: "/x", isSecure: true, isHTTPOnly: true,
                    expires: UnixTime(seconds: 4_116_219_494)),
                Cookie(name: "b", value: "\"2\"", domain: "www.example.com", isHostOnly: true, path: "/"),
            ])
    }

    @Test(arguments: [
        Cookie(name: "a", value: "b=c \"d\"", domain: "h.example", isHostOnly: true),
        Cookie(name: "a", value: "", domain: "h.example", isHostOnly: false, path: "/x/", isSecure: true),
        Cookie(name: "a", value: "b", domain: "127.0.0.1", isHTTPOnly: true, expires: UnixTime(seconds: 1)),
        Cookie(name: "a", value: "b", domain: "::1", expires: UnixTime(nanoseconds: .max)),
    ])
    func `A cookie converted to HTTPCookie and back is unchanged`(cookie: Cookie?) throws {
        let cookie = try #require(cookie)
        #expect(Cookie(try #require(HTTPCookie(cookie))) == cookie)
    }

    @Test func `A cookie that no server can set is left out`() throws {
        let bad = HTTPCookie(properties: [.name: "a", .value: "b\r\nX-Evil: 1", .domain: "h", .path: "/"])
        let good = HTTPCookie(properties: [.name: "a", .value: "b", .domain: "h", .path: "/"])
        #expect(Cookie(try #require(bad)) == nil)
        #expect(CookieToken(sessionCookies: [bad, good].compactMap(\.self)).sessionCookies.map(\.value) == ["b"])
    }

    @Test func `A token is made from HTTPCookies as the guides show`() throws {
        let url = try #require(URL(string: "https://tokens.example.com/"))
        let storage = HTTPCookieStorage.shared
        for cookie in try foundation("session_id=abc123; Path=/", from: url.absoluteString) { storage.setCookie(cookie) }
        let token = CookieToken(sessionCookies: storage.cookies(for: url) ?? [])
        var request = try HTTPRequest(.get, "https://tokens.example.com/x")
        try token.authorize(&request)
        #expect(request.headers["Cookie"] == "session_id=abc123")
        for cookie in storage.cookies(for: url) ?? [] { storage.deleteCookie(cookie) }
    }

    /// Foundation doesn't know public suffixes, so the host checks the domain again.
    @Test func `A cookie for a public suffix doesn't leave its host`() throws {
        let token = CookieToken(sessionCookies: try foundation("a=1; Domain=co.uk; Path=/", from: "https://a.co.uk/"))
        var request = try HTTPRequest(.get, "https://b.co.uk/")
        try token.authorize(&request)
        #expect(token.sessionCookies.count == 1)
        #expect(request.headers.isEmpty)
    }

    @Test func `An empty array literal is not ambiguous`() throws {
        #expect(CookieToken(sessionCookies: []).sessionCookies.isEmpty)
        let none: [HTTPCookie] = []
        #expect(CookieToken(sessionCookies: none).sessionCookies.isEmpty)
    }
}
