import Testing

@testable import NevodHost

struct HTTPURLTests {
    @Test(arguments: [
        ("http://h/", "/"),
        ("http://h", "/"),
        ("http://h?", "/?"),
        ("http://h/?", "/?"),
        ("http://h?a=1", "/?a=1"),
        ("http://h#fragment", "/"),
        ("http://h/p#fragment?not=query", "/p"),
        ("http://h/p?q#", "/p?q"),
        ("http://h/a%2Fb/%2f%41", "/a%2Fb/%2f%41"),
        ("http://h//a///b//", "//a///b//"),
        ("http://h/../a/./b/..", "/../a/./b/.."),
        ("http://h/p?a=1&&b&=&c=", "/p?a=1&&b&=&c="),
        ("http://h/p?a=[1]&b[]=2", "/p?a=[1]&b[]=2"),
        ("http://h/p?a=b=c?d/e:@!$'()*+,;", "/p?a=b=c?d/e:@!$'()*+,;"),
        ("http://h/100%", "/100%"),
        ("http://h/p/a@b:c", "/p/a@b:c"),
    ])
    func `The target is kept byte for byte`(url: String, target: String) throws {
        #expect(try HTTPURL(url).target == target)
    }

    @Test(arguments: [
        ("http://h/ä", "/%C3%A4"),
        ("http://h/a b", "/a%20b"),
        ("http://h/\"<>\\^`{|}", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
        ("http://h/?q=日本&é", "/?q=%E6%97%A5%E6%9C%AC&%C3%A9"),
        ("http://h/%20ä%2F", "/%20%C3%A4%2F"),
        ("http://h/👩‍👧", "/%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
    ])
    func `Only what RFC 3986 forbids is percent-encoded`(url: String, target: String) throws {
        #expect(try HTTPURL(url).target == target)
    }

    /// A delimiter and a combining mark after it form one Character, but the delimiter still delimits.
    @Test(arguments: [
        ("http://h/\u{301}x", "h", "/%CC%81x"),
        ("http://h/p#\u{301}x", "h", "/p"),
        ("http://h:8080/\u{20D2}x", "h:8080", "/%E2%83%92x"),
    ])
    func `Delimiters are bytes, not characters`(url: String, authority: String, target: String) throws {
        let parsed = try HTTPURL(url)
        #expect(parsed.origin.authority == authority)
        #expect(parsed.target == target)
    }

    @Test(arguments: [
        ("http://example.com/", "http://example.com", "example.com", 80),
        ("https://example.com/", "https://example.com", "example.com", 443),
        ("http://example.com:80/", "http://example.com", "example.com", 80),
        ("https://example.com:80/", "https://example.com:80", "example.com", 80),
        ("http://example.com:/", "http://example.com", "example.com", 80),
        ("HTTPS://EXAMPLE.com:8443", "https://example.com:8443", "example.com", 8443),
        ("http://[::1]", "http://[::1]", "::1", 80),
        ("http://[2001:DB8::A]:8080/x", "http://[2001:db8::a]:8080", "2001:db8::a", 8080),
        ("http://[::ffff:127.0.0.1]/", "http://[::ffff:127.0.0.1]", "::ffff:127.0.0.1", 80),
        ("http://127.0.0.1:65535", "http://127.0.0.1:65535", "127.0.0.1", 65535),
        ("http://under_score.example", "http://under_score.example", "under_score.example", 80),
    ])
    func `The origin is lower-case and without a default port`(url: String, origin: String, host: String, port: Int) throws {
        let parsed = try HTTPURL(url).origin
        #expect(parsed.description == origin)
        #expect(parsed.host == host)
        #expect(parsed.port == port)
    }

    @Test(arguments: [
        ("http://münchen.example/", "xn--mnchen-3ya.example"),
        ("http://MÜNCHEN.example/", "xn--mnchen-3ya.example"),
        ("http://日本.example:8080/", "xn--wgv71a.example"),
    ])
    func `An international host name gets its ASCII form`(url: String, host: String) throws {
        let parsed = try HTTPURL(url)
        #expect(parsed.origin.host == host)
    }

    @Test(arguments: ["\n", "\r", "\0", "\t", "\u{7F}", "\r\nX-Evil: 1"])
    func `Control characters are refused`(text: String) {
        let path = #expect(throws: InvalidRequestError.self) { try HTTPURL("http://h/a\(text)b") }
        #expect(path?.part == .url("http://h/a\(text)b"))
        let host = #expect(throws: InvalidRequestError.self) { try HTTPURL("http://h\(text)/") }
        #expect(host?.part == .url("http://h\(text)/"))
    }

    @Test(arguments: [
        "http://user:hunter2@h/", "http://hunter2@h/", "http://user:hunter2@h", "http://user:hun@ter2:hunter2@h/?x=1",
        "https://user:hunter2@[::1]/", "ftp://user:hunter2@h/", "http://user:hunter2@h/\n",
    ])
    func `User information is refused, and not repeated`(url: String) throws {
        let error = try #require(throws: InvalidRequestError.self) { try HTTPURL(url) }
        #expect(!"\(error)".contains("hunter2"))
    }

    @Test(arguments: [
        "user:hunter2@h/",  // no scheme
        "http://user:x?hunter2@h/", "http://user:x#hunter2@h/", "http://user:x/hunter2@h/",  // a delimiter in the password
        "http://user:hunter2@\u{301}h/", "http://hunter2@\u{301}h/",
    ])
    func `The error for a malformed URL doesn't repeat its password`(url: String) throws {
        let error = try #require(throws: InvalidRequestError.self) { try HTTPURL(url) }
        #expect(!"\(error)".contains("hunter2"))
    }

    @Test(arguments: [
        "", "h", "/path", "http:", "http:/h", "http://", "http:///p", "http://?q", "http://:80/", "ftp://h/", "javascript://h/",
        "://h/",
        "http://h:0/", "http://h:65536/", "http://h:-1/", "http://h:8 0/", "http://h:x/", "http://h:80:81/",
        "http://[::1/", "http://[]/", "http://[::1]x/", "http://[::1]:x/", "http://[g::1]/", "http://[::1%25eth0]/",
        "http://h h/", "http://a%62c/", "http://h\\evil/", "http://h\"/", "http://h<x>/",
    ])
    func `Text that is no http or https URL is refused`(url: String) {
        let error = #expect(throws: InvalidRequestError.self) { try HTTPURL(url) }
        #expect(error?.part == .url(url))
    }
}

extension HTTPURLTests {
    @Test func `A port with a sign is refused`() {
        let error = #expect(throws: InvalidRequestError.self) { try HTTPURL("http://h:+1/") }
        #expect(error?.part == .url("http://h:+1/"))
    }
}
