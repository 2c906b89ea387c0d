import NevodSupport
import Testing

@testable import OAuth2Auth

struct RedirectURITests {
    @Test(
        arguments: [
            ("http://127.0.0.1/callback", "127.0.0.1", 0, "/callback"),
            ("http://127.0.0.1:8080/a/b", "127.0.0.1", 8080, "/a/b"),
            ("http://[::1]:65535", "[::1]", 65535, "/"),
            ("http://localhost:80/", "localhost", 80, "/"),
        ] as [(String, String, UInt16, String)])
    func `At loopback, the host waits for the browser`(text: String, host: String, port: UInt16, path: String) throws {
        let loopback = try #require(try RedirectURI(text).loopback)
        #expect((loopback.host, loopback.port, loopback.path) == (host, port, path))
    }

    @Test(arguments: [
        "https://127.0.0.1/callback", "http://127.0.0.1.example.com/", "http://127.0.0.2/", "http://localhost.example.com/cb?a=b",
        "http://127.0.0.1@example.com/", "http://localhosts/", "https://app.example.com/cb", "com.example.app:/cb",
        "urn:ietf:wg:oauth:2.0:oob",
    ])
    func `Elsewhere, a person copies the address`(text: String) throws {
        #expect(try RedirectURI(text).loopback == nil)
    }

    @Test(arguments: [
        "", "callback", "/callback", ":/cb", "http://127.0.0.1/cb#part", "http://127.0.0.1/c b", "http://127.0.0.1/c\u{E9}",
        "http://127.0.0.1:0/", "http://127.0.0.1:/", "http://127.0.0.1:65536/", "http://127.0.0.1:+80/", "http://localhost:8o/",
        "http://127.0.0.1/cb?a=b", "http://127.0.0.1/" + String(repeating: "a", count: 256),
        "https://example.com/" + String(repeating: "a", count: 2048),
    ])
    func `What is none is refused, with the setting's name`(text: String) {
        #expect {
            _ = try makeClient(["redirect-uri": text])
        } throws: {
            "\($0)".contains("\"redirect-uri\" must have a p") || "\($0)".contains("\"redirect-uri\" must be an absolute address")
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1/cb", "http://127.0.0.1:5000/cb", "http://127.0.0.1:5000/cb"),
        // Exactly as registered, byte by byte.
        ("http://localhost", "http://localhost:5000/", "http://localhost:5000"),
        ("http://localhost/", "http://localhost:5000/", "http://localhost:5000/"),
        ("http://127.0.0.1:80/cb", "http://127.0.0.1/cb", "http://127.0.0.1:80/cb"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/", "http://127.0.0.1:8080"),
    ])
    func `The server gets the registered address, with the port that was free`(text: String, url: String, sent: String) throws {
        #expect(try RedirectURI(text).listening(at: url) == sent)
    }
}
