import NevodPluginKit
import NevodTestSupport
import Testing

struct FormatTests {
    private static let texts = ["", "a", "a b", "&=+%", "ä€😀", "*-._~", "\u{0}\n", "%41", "%zz%", "A%", "a=b=c"]

    @Test func `Forms are encoded and decoded as by Python`() throws {
        var random = SeededRandom(seed: 1866)
        let values = Self.texts + (0..<200).map { _ in random.text(of: Self.texts, upTo: 4) }
        // Python doesn't escape "~", but escapes "*". Otherwise the two alphabets are the same.
        let written = try Judge.python(
            "import urllib.parse\ntell([urllib.parse.urlencode({v: v}, safe='*').replace('~', '%7E') for v in cases])", values,
            as: String.self)
        for (value, expected) in zip(values, written) {
            var form = FormFields()
            form.append(value, .secret(Secret(value)))
            #expect(String(revealing: form.encoded) == expected)
            #expect(FormFields(parsing: expected)[value] == value || value.isEmpty && expected == "=")
        }
        let read = try Judge.python(
            "import urllib.parse\ntell([urllib.parse.parse_qsl(v, keep_blank_values=True, errors='replace') for v in cases])",
            values, as: [[String]].self)
        for (value, expected) in zip(values, read) {
            #expect(FormFields(parsing: value).fields.map { [$0.name, $0.value.text] } == expected, "\(value)")
        }
    }

    @Test func `Fields keep their order and names may repeat`() {
        var form: FormFields = ["b": "1", "a": .secret(Secret("2")), "b": "3"]
        form.append("c", "")
        #expect(String(revealing: form.encoded) == "b=1&a=2&b=3&c=")
        #expect(form["b"] == "1")
        #expect(form["d"] == nil)
        #expect(FormFields(parsing: "&&x&=y&") == ["x": "", "": "y"])
        #expect(!"\(form)".contains("2"))
        #expect(String(revealing: FormFields(["b": Secret("2"), "a": Secret("1")]).encoded) == "a=1&b=2")
    }

    @Test func `Base64url equals Python's`() throws {
        var random = SeededRandom(seed: 4648)
        let blocks = (0..<100).map { count in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
        let hex = blocks.map { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        let expected = try Judge.python(
            "import base64\ntell([base64.urlsafe_b64encode(bytes.fromhex(v)).decode().rstrip('=') for v in cases])", hex,
            as: String.self)
        for (block, text) in zip(blocks, expected) {
            #expect(Base64URL.encoded(block) == text)
            #expect(Base64URL.decoded(text) == block)
        }
        for text in ["A", "AB", "AAAAA", "AA==", "AA=", "A+==", "+/", "AA A", "AAB", "é"] {
            #expect(Base64URL.decoded(text) == nil, "\(text)")
        }
    }

    @Test(arguments: [
        ("https://api.example.com/v1?x#y", "https://api.example.com"), ("http://h", "http://h"), ("http://h?x", "http://h"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ])
    func `The origin of a server setting is read`(text: String, origin: String) {
        #expect(ServerURL(text: text).origin == origin)
    }

    /// The host's tests cover the rules. This tests that the kit uses them.
    @Test func `Set-Cookie lines are parsed`() throws {
        let line = try #require(
            SetCookieLine(
                "sid = a=b ; Path=/app; path=x; Path=/b; DOMAIN=.Example.com; Secure; HttpOnly; SameSite=Lax; Expires=Wed, 09 Jun 2021 10:18:14 GMT; Max-Age=60"
            ))
        #expect(line.name == "sid")
        #expect(line.value == "a=b")
        #expect(line.path == "/b")
        #expect(line.domain == "Example.com")
        #expect(line.isSecure && line.isHTTPOnly && line.sameSite == "lax")
        #expect(line.expiry(setAt: 1000) == 1060)
        #expect(SetCookieLine("a=; Expires=Wed, 09 Jun 2021 10:18:14 GMT")?.expiry(setAt: 0) == 1_623_233_894)
        #expect(SetCookieLine("a=; Max-Age=0; Expires=Wed, 09 Jun 2021 10:18:14 GMT")?.expiry(setAt: 0) == .min)
        #expect(SetCookieLine("a=; Max-Age=99999999999999999999")?.expiry(setAt: 5) == .max)
        #expect(SetCookieLine("a=b")?.expiry(setAt: 0) == nil)
        #expect(SetCookieLine("a") == nil)
        #expect(SetCookieLine("a=b\n") == nil)
        #expect(CookieScope.path("/app/x", matches: "/app"))
        #expect(!CookieScope.path("/apple", matches: "/app"))
        #expect(CookieScope.defaultPath(of: "/a/b") == "/a")
        #expect(CookieScope.host("a.b.c", matches: "b.c") && !CookieScope.host("ab.c", matches: "b.c"))
    }
}
