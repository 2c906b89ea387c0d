import Testing

@testable import NevodHost

/// Tests which requests a cookie is sent with.
struct CookieMatchingTests {
    private func cookie(_ domain: String, _ path: String = "/", isHostOnly: Bool = false, isSecure: Bool = false) throws -> Cookie
    {
        try #require(
            Cookie(name: "a", value: "b", domain: domain, isHostOnly: isHostOnly, path: path, isSecure: isSecure))
    }

    @Test(arguments: [
        ("example.com", "http://example.com/", true),
        ("example.com", "http://EXAMPLE.com:8080/", true),
        ("example.com", "http://www.example.com/", true),
        ("example.com", "http://a.b.example.com/", true),
        ("example.com", "http://badexample.com/", false),
        ("example.com", "http://example.com.evil.com/", false),
        ("example.com", "http://com/", false),
        ("www.example.com", "http://example.com/", false),
        ("example.com", "http://example.com./", false),
        ("example.com", "http://www.example.com./", false),
        ("xn--mnchen-3ya.example", "http://www.münchen.example/", true),
        ("127.0.0.1", "http://127.0.0.1/", true),
        ("0.0.1", "http://127.0.0.1/", false),
        ("1", "http://127.1/", false),
        ("0x7f000001", "http://0.0x7f000001/", false),
        ("2.3.4", "http://[::ffff:1.2.3.4]/", false),
        ("::1", "http://[::1]/", true),
        // A server can't set these, but a file can contain them.
        ("co.uk", "http://a.co.uk/", false),
        ("co.uk.", "http://a.co.uk./", false),
        ("com", "http://example.com/", false),
        ("github.io", "http://me.github.io/", false),
        ("github.io", "http://github.io/", true),
    ])
    func `A cookie matches its domain and its subdomains`(domain: String, url: String, matches: Bool) throws {
        #expect(try cookie(domain).matches(get(url)) == matches)
    }

    @Test func `A host-only cookie goes to its host alone`() throws {
        let cookie = try cookie("example.com", isHostOnly: true)
        #expect(try cookie.matches(get("http://example.com/")))
        #expect(try !cookie.matches(get("http://www.example.com/")))
    }

    @Test(arguments: [
        ("/", "/", true), ("/", "/a/b", true), ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/b", true),
        ("/a", "/ab", false),
        ("/a/", "/a/b", true), ("/a/", "/a", false), ("/a", "/A", false), ("/a", "/", false), ("/a", "/a?b", true),
        ("/a", "/?/a/", false), ("/a", "/a%2Fb", false), ("/a", "//a", false),
        ("/a", "/a/../b", false), ("/a", "/a/..", false), ("/a", "/a/%2e%2E/b", false), ("/a", "/a/.%2e/b", false),
        ("/b", "/a/../b", true), ("/b", "/a/%2e%2e/b/.", true), ("/a", "/a/..b", true), ("/a/..", "/a/..", false),
        ("/a", "/a/x?/../..", true),
    ])
    func `A cookie matches its path and the folders below it`(path: String, target: String, matches: Bool) throws {
        #expect(try cookie("h.example", path).matches(get("http://h.example\(target)")) == matches)
    }

    @Test func `A secure cookie goes over TLS alone`() throws {
        let cookie = try cookie("h.example", isSecure: true)
        #expect(try cookie.matches(get("https://h.example/")))
        #expect(try !cookie.matches(get("http://h.example/")))
        #expect(try !cookie.matches(get("http://h.example:443/")))
    }

    @Test func `A cookie expires at its time`() throws {
        let cookie = try #require(Cookie(name: "a", value: "b", domain: "h", expires: cookieTime))
        #expect(!cookie.isExpired(at: cookieTime - .nanoseconds(1)))
        #expect(cookie.isExpired(at: cookieTime))
        #expect(try !self.cookie("h").isExpired(at: UnixTime(nanoseconds: .max)))
    }
}
