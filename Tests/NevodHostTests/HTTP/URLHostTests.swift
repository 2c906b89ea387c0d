import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests hosts in the forms that servers, settings and people may use, with libcurl's parser as the judge.
struct URLHostTests {
    @Test(arguments: [
        "[:]", "[::::]", "[:::::]", "[1:2:3]", "[12345::]", "[1.2.3.4:]", "[1.2.3.4]", "[::1.2.3]", "[::1.2.3.256]", "[1::2::3]",
        "[1:2:3:4:5:6:7:8:9]", "[1:2:3:4:5:6:7:8::]", "[::1%eth0]", "[::1%25eth0]", "[v1.a]", "[v1.::]", "[vF.a:b]", "[]", "[",
        "]",
        "[::1", "::1]", "[[::1]]", "[ ::1]", "[\u{FF1A}:1]", "a\u{FF1A}80", "a\u{FF0F}b", "a\u{FF03}b", "a\u{FF1F}b",
        "a\u{FF20}b",
        "a\u{FF3B}b", "a\u{2100}b", "a\u{FF05}2eb", "\u{3000}", "\u{AD}", "\u{200D}", "xn--\u{301}", "a\u{0}", "a b", "a%2eb",
        "a\\b", "a\"b",
        "a{b", "a^b", "a|b", "a*b", "a'b", "a;b", "a,b", "a+b", "a=b", "a&b", "a(b)", "a!b", "a~b", "a$b", "a`b", "a<b>",
        String(repeating: "a", count: 256), String(repeating: "ä", count: 10_000),
    ])
    func `A host that is neither a name nor an address is refused`(host: String) throws {
        #expect(throws: InvalidRequestError.self) { try HTTPRequest(.get, "http://\(host)/") }
        #expect(throws: InvalidRequestError.self) { try HTTPRequest(.get, "https://\(host):8443/a?b#c") }
        var request = try HTTPRequest(.get, "http://h/")
        #expect(throws: InvalidRequestError.self) { try request.redirect(to: "http://\(host)/", leavingOut: []) }
        #expect(request.url == "http://h/")
    }

    @Test(arguments: [
        ("[0:0:0:0:0:0:0:1]", "::1"), ("[::0001]", "::1"), ("[2001:DB8:0:0:1:0:0:1]", "2001:db8::1:0:0:1"),
        ("[::FFFF:127.0.0.1]", "::ffff:127.0.0.1"), ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
        ("[1:2:3:4:5:6:7:8]", "1:2:3:4:5:6:7:8"),
        ("127.1", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("0x7F000001", "127.0.0.1"), ("0177.0.0.01", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"), ("1.2.3", "1.2.0.3"), ("0", "0.0.0.0"), ("4294967295", "255.255.255.255"),
        ("\u{FF11}\u{FF12}\u{FF17}.1", "127.0.0.1"), ("127\u{3002}0\u{3002}0\u{3002}1", "127.0.0.1"),
        // libcurl also reads these as names.
        ("4294967296", "4294967296"), ("256.1", "256.1"), ("1.2.3.4.5", "1.2.3.4.5"), ("09.1", "09.1"), ("0x", "0x"),
        ("1.2.3.", "1.2.3."),
        ("127.0.0.1.", "127.0.0.1."), ("1a", "1a"), ("0x1g", "0x1g"), ("-1", "-1"), ("a.1", "a.1"),
        ("EXAMPLE.Com", "example.com"), ("BÜCHER.example", "xn--bcher-kva.example"),
    ])
    func `An address has one form`(host: String, canonical: String) throws {
        let origin = try HTTPRequest(.get, "http://\(host)/").origin
        #expect(origin.host == canonical)
        if let judge = CurlURL("http://\(host.replacing("\u{3002}", with: "."))/"), host.utf8.allSatisfy({ $0 < 0x80 }) {
            // Version 7.88 keeps the digits of an IPv6 address that has no shorter form.
            let judged = judge.host
            #expect(judged == canonical || host.hasPrefix("["), "\(judged)")
        }
    }

    private static let words = [
        "[", "]", ":", "::", ".", "%", "%25", "@", "/", "//", "?", "#", "\\", "-", "_", "0", "1", "127", "255", "256", "0x7f",
        "0177", "1e3",
        "ffff", "12345", "a", "Z", "example", ".com", "xn--", "xn--bcher-kva", "ä", "ß", "日本", "\u{FF1A}", "\u{FF0F}", "\u{3002}",
        "\u{FF0E}", "\u{FF20}", "\u{301}", "\u{200D}", "\u{AD}", "\u{202E}", "\u{FF11}", "localhost", "80", ":80", ":0", ":65535",
        ":65536", " ",
        "+", "*", ",", ";", "=", "v1.", "\u{7F}",
    ]

    @Test func `What is accepted, libcurl reads as the same host and port`() throws {
        var random = SeededRandom(seed: 3986)
        var (accepted, compared) = (0, 0)
        for _ in 0..<20_000 {
            let bracketed = Int.random(in: 0..<4, using: &random) == 0
            let middle = (0..<Int.random(in: 1..<7, using: &random)).compactMap { _ in Self.words.randomElement(using: &random) }
                .joined()
            let url = "http://\(bracketed ? "[\(middle)]" : middle)\(Bool.random(using: &random) ? ":8080" : "")/"
            guard let request = try? HTTPRequest(.get, url) else { continue }
            accepted += 1
            let origin = request.origin
            guard let judge = CurlURL("\(origin)/") else {
                Issue.record("libcurl refuses \(origin), from \(url)")
                continue
            }
            #expect(judge.host == origin.host, "\(url)")
            #expect(judge.port == Int(origin.port), "\(url)")
            // libcurl's reading of the text itself.
            guard url.utf8.allSatisfy({ $0 < 0x80 }) else { continue }
            compared += 1
            guard let judge = CurlURL(url) else {
                Issue.record("libcurl refuses \(url)")
                continue
            }
            let host = judge.host
            #expect(URLHost.ipv6(host.utf8) ?? host == origin.host, "\(url)")
            #expect(judge.port == Int(origin.port), "\(url)")
        }
        #expect(accepted > 1000 && compared > 500, "\(accepted), \(compared)")
    }
}
