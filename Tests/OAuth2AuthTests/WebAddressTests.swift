import NevodSupport
import NevodTestSupport
import Testing

@testable import OAuth2Auth

/// Decisions by a URL's origin or path. Python's library is the judge.
struct WebAddressTests {
    private static let addresses = [
        "https://id.example", "https://id.example/", "https://id.example/a/b?c=d#e", "HTTPS://ID.Example:443/A", "http://h:80",
        "http://127.0.0.1:8080/x", "https://[::1]:8443/x", "https://[2001:DB8::1]", "https://h?x", "https://h#x", "https://h:/x",
    ]

    @Test func `Parts are those that Python finds`() throws {
        let script = """
            import sys, urllib.parse
            for text in sys.argv[1:]:
                url = urllib.parse.urlsplit(text)
                print(url.hostname, url.port or {"http": 80, "https": 443}[url.scheme], url.path, bool(url.query), bool(url.fragment))
            """
        for (text, expected) in zip(Self.addresses, try Command.python(script, Self.addresses)) {
            let address = try #require(WebAddress(text), "\(text)")
            let parts = expected.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            let secure = text.lowercased().hasPrefix("https") ? "https" : "http"
            let host = parts[0].contains(":") ? "[\(parts[0])]" : parts[0]
            let same = try #require(WebAddress("\(secure)://\(host):\(parts[1])"))
            #expect(address.isSameOrigin(as: same), "\(text)")
            #expect(String(address.path) == parts[2], "\(text)")
            #expect([address.hasQuery, address.hasFragment] == [parts[3] == "True", parts[4] == "True"], "\(text)")
        }
    }

    @Test(arguments: [
        "", "id.example", "//id.example", "ftp://h", "https:/h", "https://", "https://:443", "https://a@h",
        "https://h\\@evil.example",
        "https://[::1]h", "https://[::1]84:34/a", "https://[::1]84]:8443/a", "https://[[::1]]", "https://h]", "https://[h[]",
        "https://h[::1]", "https://h:0", "https://h:65536", "https://h:1x",
        "https://h:99999999999999999999", "https://[::1", "https://h/\u{1B}",
        "https://h/a b", "https://é.example", "https://\u{301}h", "https://h/\n",
    ])
    func `Anything else is no address`(text: String) {
        #expect(WebAddress(text) == nil)
    }

    @Test func `A long URL is no address`() {
        let start = "https://h/"
        #expect(WebAddress(start + String(repeating: "a", count: 8192 - start.utf8.count)) != nil)
        #expect(WebAddress(start + String(repeating: "a", count: 8193 - start.utf8.count)) == nil)
    }

    @Test(arguments: [
        ("http://127.0.0.1", true), ("http://127.9.8.7:80/", true), ("http://localhost", true), ("http://LOCALHOST", true),
        ("http://[::1]", true), ("http://127.1", false), ("http://127.0.0.01", false), ("http://0177.0.0.1", false),
        ("http://127.0.0.1.example", false), ("http://127.0.0.256", false), ("http://localhost.example", false),
        ("http://[::2]", false),
        ("http://128.0.0.1", false), ("http://127.0.0.", false), ("http://127.0..1", false),
    ])
    func `Loopback is this machine alone`(text: String, isLoopback: Bool) throws {
        let address = try #require(WebAddress(text))
        #expect(address.isLoopback == isLoopback)
        #expect(address.isAuthentic == isLoopback)
    }

    @Test(arguments: [
        ("https://h/a", "https://h/a", true), ("https://h/a/", "https://h/a", true), ("https://h/a", "https://h/a/b?c", true),
        ("https://h", "https://h/a", true), ("https://h/", "https://h", true), ("https://H:443/a", "https://h/a/b", true),
        ("https://h/a", "https://h/ab", false), ("https://h/a", "https://h", false), ("https://h/a", "http://h/a", false),
        ("https://h/a", "https://h:444/a", false), ("https://h/a", "https://i/a", false),
        ("https://h/a?b", "https://h/a?b", false),
        ("https://h/a#b", "https://h/a", false), ("https://h/A", "https://h/a", false),
    ])
    func `A resource contains what is below its path`(resource: String, url: String, contains: Bool) throws {
        #expect(try #require(WebAddress(resource)).contains(try #require(WebAddress(url))) == contains)
    }

    @Test(arguments: [
        ("https://id.example", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"),
        ("https://id.example/", "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"),
        // The examples of RFC 8414 §3.1 and §5.
        (
            "https://id.example/issuer1", "/issuer1/.well-known/openid-configuration",
            "/.well-known/oauth-authorization-server/issuer1"
        ),
        ("https://id.example/a/b//", "/a/b/.well-known/openid-configuration", "/.well-known/oauth-authorization-server/a/b"),
    ])
    func `The metadata of an issuer are at two addresses`(issuer: String, first: String, second: String) {
        #expect(OAuth2Auth.metadataURLs(of: issuer) == ["https://id.example\(first)", "https://id.example\(second)"])
    }

    @Test(arguments: [
        // The examples of RFC 9728 §3.1.
        ("https://api.example", "https://api.example/.well-known/oauth-protected-resource"),
        ("https://api.example/resource1", "https://api.example/.well-known/oauth-protected-resource/resource1"),
        ("https://api.example/", "https://api.example/.well-known/oauth-protected-resource"),
    ])
    func `The metadata of a resource are at one address`(resource: String, url: String) {
        #expect(ProtectedResource.metadataURL(of: resource) == url)
    }
}
