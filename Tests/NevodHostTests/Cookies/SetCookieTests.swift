import Testing

@testable import NevodHost

/// Tests how a client reads a `Set-Cookie` line.
struct SetCookieTests {
    private func cookie(_ line: String, from url: String = "https://www.example.com/app/login?x=/y/z") throws -> Cookie? {
        Cookie(setCookie: line, from: try get(url), now: cookieTime)
    }

    @Test func `Every attribute is read`() throws {
        let cookie = try cookie(
            "id=1; Domain=Example.com; Path=/app; Secure; HttpOnly; SameSite=Lax; Expires=Wed, 09 Jun 2100 10:18:14 GMT")
        #expect(
            cookie
                == Cookie(
                    name: "id", value: "1", domain: "example.com", isHostOnly: false, path: "/app", isSecure: true,
                    isHTTPOnly: true, sameSite: .lax, expires: UnixTime(seconds: 4_116_219_494), creation: cookieTime))
    }

    @Test func `A cookie without attributes gets the defaults`() throws {
        #expect(
            try cookie("id=1")
                == Cookie(name: "id", value: "1", domain: "www.example.com", isHostOnly: true, path: "/app", creation: cookieTime)
        )
    }

    @Test(arguments: [
        ("a=b", "a", "b"),
        (" a \t=\t b ;x", "a", "b"),
        ("a=", "a", ""),
        ("a==b=c", "a", "=b=c"),
        ("a=\"b c\"", "a", "\"b c\""),
        ("a=b,c", "a", "b,c"),
        ("a b=c d", "a b", "c d"),
        ("a=ä", "a", "ä"),
        ("a=b;", "a", "b"),
        ("a=b;;;=;=x;", "a", "b"),
    ])
    func `The name and the value are split at the first equals sign`(line: String, name: String, value: String) throws {
        let cookie = try #require(try cookie(line))
        #expect(cookie.name == name)
        #expect(cookie.value == value)
    }

    @Test(arguments: [
        "", "a", ";", "=", "=b", " =b", "; a=b", "a\u{0}=b", "a=b\r", "a=b\nc", "a=b\u{7F}", "a=b; Path=/\u{1}", "a=b\tc",
        "a\tb=c",
        "a=b; Path=/x\ty", "a=b; x=\u{1}", "a=b; Secure\r",
    ])
    func `A line without a name and value is no cookie`(line: String) throws {
        #expect(try cookie(line) == nil)
    }

    @Test func `A name and a value have 4096 bytes together`() throws {
        #expect(try cookie("name=" + String(repeating: "v", count: 4092))?.value.utf8.count == 4092)
        #expect(try cookie("name=" + String(repeating: "v", count: 4093)) == nil)
        #expect(try cookie("name=" + String(repeating: "ä", count: 2047)) == nil)
    }

    @Test func `An attribute has 1024 bytes`() throws {
        let path = "/" + String(repeating: "p", count: 1023)
        #expect(try cookie("a=b; Path=\(path)")?.path == path)
        #expect(try cookie("a=b; Path=/x; Path=\(path)p")?.path == "/x")
    }

    @Test func `The last of several equal attributes counts`() throws {
        #expect(try cookie("a=b; Path=/1; path=/2")?.path == "/2")
        #expect(try cookie("a=b; Path=/1; path=2")?.path == "/app")
        #expect(try cookie("a=b; Domain=example.com; DOMAIN=www.example.com")?.domain == "www.example.com")
        #expect(try cookie("a=b; Domain=example.com; Domain=other.com") == nil)
        #expect(try cookie("a=b; Max-Age=1; Max-Age=2")?.expires == cookieTime + .seconds(2))
        #expect(try cookie("a=b; SameSite=Lax; SameSite=Sideways")?.sameSite == nil)
    }

    // MARK: Domain

    @Test(arguments: [
        ("example.com", "example.com"),
        (".example.com", "example.com"),
        ("EXAMPLE.Com", "example.com"),
        ("www.example.com", "www.example.com"),
    ])
    func `A domain that contains the host is accepted`(attribute: String, domain: String) throws {
        let cookie = try #require(try cookie("a=b; Domain=\(attribute)"))
        #expect(cookie.domain == domain)
        #expect(!cookie.isHostOnly)
    }

    @Test(arguments: ["", ".", " "])
    func `A malformed domain is refused`(attribute: String) throws {
        let cookie = try #require(try cookie("a=b; Domain=\(attribute)"))
        #expect(cookie.domain == "www.example.com")
        #expect(cookie.isHostOnly)
    }

    @Test(arguments: [
        "other.com", "ample.com", "sub.www.example.com", "..example.com", "example..com", "example.com.", "com", ".com", "com.",
        "www.example.com:443", "https://www.example.com", "*.example.com", "example.com/", ".\u{301}example.com", "%65xample.com",
    ])
    func `A domain that doesn't contain the host is refused`(attribute: String) throws {
        #expect(try cookie("a=b; Domain=\(attribute)") == nil)
    }

    @Test(arguments: [
        ("https://a.co.uk/", "co.uk"), ("https://me.github.io/", "github.io"), ("https://a.localhost/", "localhost"),
        ("https://a.xn--55qx5d.cn/", "公司.cn"), ("https://a.co.uk./", "co.uk."), ("https://x.foo.ck/", "foo.ck"),
    ])
    func `A cookie for a public suffix is refused`(url: String, suffix: String) throws {
        #expect(try cookie("a=b; Domain=\(suffix)", from: url) == nil)
    }

    @Test(arguments: ["github.io", "localhost", "co.uk"])
    func `A host that is a public suffix sets one for itself`(host: String) throws {
        let cookie = try #require(try cookie("a=b; Domain=\(host)", from: "https://\(host)/"))
        #expect(cookie.domain == host)
        #expect(cookie.isHostOnly)
    }

    @Test func `An exception of the list is no suffix`() throws {
        #expect(try cookie("a=b; Domain=www.ck", from: "https://x.www.ck/")?.isHostOnly == false)
    }

    @Test func `International domain names compare in their ASCII form`() throws {
        #expect(
            try cookie("a=b; Domain=münchen.example", from: "https://www.xn--mnchen-3ya.example/")?.domain
                == "xn--mnchen-3ya.example")
        #expect(
            try cookie("a=b; Domain=XN--mnchen-3ya.example", from: "https://www.MÜNCHEN.example/")?.domain
                == "xn--mnchen-3ya.example")
    }

    @Test(arguments: [
        ("http://127.0.0.1/", "0.0.1"), ("http://127.0.0.1/", "1"), ("http://127.0.0.1./", "0.0.1."), ("http://127.1/", "1"),
        ("http://1.0x7f000001/", "0x7f000001"), ("http://[::ffff:1.2.3.4]/", "2.3.4"), ("http://[::1]/", "[::1]"),
    ])
    func `An address is in no domain`(url: String, domain: String) throws {
        #expect(try cookie("a=b; Domain=\(domain)", from: url) == nil)
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `An address sets a cookie for itself`(host: String) throws {
        let cookie = try cookie("a=b; Domain=\(host)", from: host == "::1" ? "http://[::1]:80/" : "http://\(host)/")
        #expect(cookie?.domain == host)
        #expect(cookie?.isHostOnly == true)
    }

    // MARK: Path

    @Test(arguments: [
        ("https://h/", "/"), ("https://h", "/"), ("https://h?/a/b", "/"), ("https://h/a", "/"), ("https://h/a/", "/a"),
        ("https://h/a/b", "/a"), ("https://h/a/b/c?/d/e", "/a/b"), ("https://h//", "/"), ("https://h/a/../b/c", "/b"),
        ("https://h/a/%2e%2E/b/c", "/b"), ("https://h/a%2Fb/c", "/a%2Fb"),
    ])
    func `The default path is the folder of the request`(url: String, path: String) throws {
        #expect(try cookie("a=b", from: url)?.path == path)
        #expect(try cookie("a=b; Path=relative", from: url)?.path == path)
        #expect(try cookie("a=b; Path=", from: url)?.path == path)
    }

    @Test func `A path is kept byte for byte`() throws {
        #expect(try cookie("a=b; Path=/x/../y/%2E%2e/")?.path == "/x/../y/%2E%2e/")
    }

    // MARK: Time

    @Test(arguments: [
        ("0", UnixTime(seconds: 1)), ("-1", UnixTime(seconds: 1)), ("-99999999999999999999", UnixTime(seconds: 1)),
        ("00", UnixTime(seconds: 1)), ("60", UnixTime(seconds: 1_700_000_060)), ("007", UnixTime(seconds: 1_700_000_007)),
        ("9223372036854775807", UnixTime(seconds: 9_223_372_036)),
        ("99999999999999999999", UnixTime(seconds: 9_223_372_036)),
    ])
    func `Max-Age sets the expiry`(age: String, expires: UnixTime) throws {
        let cookie = try #require(try cookie("a=b; Max-Age=\(age); Expires=Wed, 09 Jun 2100 10:18:14 GMT"))
        #expect(cookie.expires == expires)
    }

    @Test(arguments: ["", "-", "+1", "1.5", "1 2", "0x10", "1s", "--1", "١"])
    func `A malformed Max-Age leaves Expires in force`(age: String) throws {
        let line = "a=b; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Max-Age=\(age)"
        #expect(try cookie(line)?.expires == UnixTime(seconds: 4_116_219_494))
        #expect(try cookie("a=b; Max-Age=\(age)")?.expires == nil)
    }

    @Test func `A malformed Expires is ignored`() throws {
        #expect(try cookie("a=b; Expires=tomorrow")?.expires == nil)
        #expect(
            try cookie("a=b; Expires=Wed, 09 Jun 2100 10:18:14 GMT; Expires=tomorrow")?.expires
                == UnixTime(seconds: 4_116_219_494))
    }

    // MARK: Cookies that an origin may not set

    @Test func `A secure cookie is set over TLS`() throws {
        #expect(try cookie("a=b; Secure", from: "http://h/") == nil)
        #expect(try cookie("a=b; sEcUrE=0", from: "https://h/")?.isSecure == true)
    }

    @Test(arguments: [
        ("__Secure-a=b", false), ("__Secure-a=b; Secure", true), ("__SECURE-a=b", false),
        ("__Secure-a=b; Secure; Domain=example.com", true),
        ("__Host-a=b; Path=/", false), ("__Host-a=b; Secure; Path=/", true), ("__host-a=b; Path=/", false),
        ("__Host-a=b; Secure", false), ("__Host-a=b; Secure; Path=/app", false),
        ("__Host-a=b; Secure; Path=/; Domain=www.example.com", false), ("__Host-\u{301}=b; Path=/", false),
        ("__Hostess=b", true),
    ])
    func `__Host- and __Secure- cookies are held to their rules`(line: String, isSet: Bool) throws {
        #expect(try (cookie(line) != nil) == isSet)
        // The path must be explicit, even if it is the default.
        #expect(try cookie("__Host-a=b; Secure", from: "https://h/") == nil)
    }

    @Test func `Neither its description nor its dump shows the value`() throws {
        let cookie = try #require(try cookie("id=hidden; Secure"))
        var dumped = ""
        dump([cookie], to: &dumped)
        for text in ["\(cookie)", "\([cookie])", String(reflecting: cookie), dumped] {
            #expect(!text.contains("hidden"))
            #expect(text.contains("id=[redacted]"))
        }
    }

    @Test(arguments: [
        Cookie(name: "", value: "", domain: "h"), Cookie(name: "a=b", value: "", domain: "h"),
        Cookie(name: "a", value: "b;c", domain: "h"), Cookie(name: "a", value: "b\nh\tTRUE", domain: "h"),
        Cookie(name: "a", value: "b", domain: ""), Cookie(name: "a", value: "b", domain: "h\t"),
        Cookie(name: "a", value: "b", domain: "#h"), Cookie(name: "a", value: "b", domain: "h", path: "x"),
        Cookie(name: "a", value: "b", domain: "h", path: ""), Cookie(name: "a", value: "b", domain: "h", path: "/\r\n"),
    ])
    func `A program makes no cookie that a server couldn't`(cookie: Cookie?) {
        #expect(cookie == nil)
    }
}
