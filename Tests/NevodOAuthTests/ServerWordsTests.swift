import NevodOAuth
import NevodSupport
import NevodTestSupport
import Testing

struct ServerWordsTests {
    private static let secret = "s3cr+t/of thé&cliènt"
    private static let encoded = "s3cr%2Bt%2Fof%20th%C3%A9%26cli%C3%A8nt"

    @Test(arguments: [
        secret, "words and \(secret) and more", encoded, encoded.lowercased(), encoded.replacing("%20", with: "+"),
        encoded.replacing("%", with: "%25"), "\u{1B}[31m\(secret)", "it is s3cr+t/of", "s3cr+t/of th\u{FFFD}&cli\u{FFFD}nt",
        "s3cr+t/of\\n th\\té&cliènt", "s3cr t/of\u{0}th\u{1B}x", String(repeating: "é", count: 60) + secret,
    ])
    func `Words that repeat a part of a secret in any form are not shown`(_ echo: String) {
        #expect(ServerWords.text(echo, hiding: [Secret("other"), Secret(Self.secret)]) == "")
        #expect(ServerWords.inParentheses(echo, hiding: [Secret(Self.secret)]) == "")
        #expect(ServerWords.text(echo) != "")
    }

    @Test(arguments: [Base64.Alphabet.standard, .url])
    func `A long run of base64 looks like a token`(alphabet: Base64.Alphabet) {
        let echo = Base64.encoded(Array("app:\(Self.secret)".utf8), alphabet)
        #expect(ServerWords.text("no \(echo)", hiding: [Secret(Self.secret)]) == "no ...")
    }

    @Test func `A part in base64 is found even if it is short`() {
        #expect(ServerWords.text("no (YXBwOm9obm8=)", hiding: [Secret("ohno")]) == "")
        #expect(ServerWords.text("no (c2hvcA==, 100%)", hiding: [Secret("ohno")]) == "no (c2hvcA==, 100%)")
    }

    @Test func `Words that only resemble a secret are shown`() {
        for text in ["abc%2", "abc%2xd", "abc e", "abc%20", "xabc", "abc-d"] {
            #expect(ServerWords.text(text, hiding: [Secret("abc d")]) == text)
        }
        // A shorter secret would match unrelated words.
        #expect(ServerWords.text("abc", hiding: [Secret("abc")]) == "abc")
        #expect(ServerWords.text("aaaaaa", hiding: [Secret("aaaa")]) == "")
    }

    @Test func `Words are printable ASCII and bounded`() {
        #expect(ServerWords.text("a\u{1b}[31m\u{202e}b\r\n\tc") == "a [31m b c")
        #expect(ServerWords.text("") == "")
        #expect(ServerWords.text("\u{0}\u{7f}ü") == "")
        let plain = "expired at 2026-01-01, see https://a.example/help"
        #expect(ServerWords.text(plain) == plain)
        #expect(ServerWords.text("token 0123456789abcdef is bad") == "token ... is bad")
        #expect(ServerWords.text("unsupported_grant_type_for_this_client") == "unsupported_grant_type_for_this_client")
        #expect(ServerWords.text(String(repeating: "ab ", count: 5000)).utf8.count == ServerWords.limit + 3)
        // A word at the end of the part that is read may be the beginning of a token.
        #expect(ServerWords.text(String(repeating: " ", count: 1990) + String(repeating: "s", count: 100)) == "")
    }

    @Test func `Words in parentheses follow a space`() {
        #expect(ServerWords.inParentheses("gone") == " (gone)")
        #expect(ServerWords.inParentheses("") == "" && ServerWords.inParentheses(nil) == "")
    }

    @Test(
        arguments: [
            ("invalid_grant", "invalid_grant"), ("shop_closed", "shop_closed"), ("two words", "two words"), ("", nil),
            ("a\"b", nil), ("a\\b", nil), ("a\nb", nil), ("é", nil), (String(repeating: "a", count: 65), nil),
            ("refresh-s3cret", nil), ("x refresh%2Ds3cret", nil), ("cmVmcmVzaC1zM2NyZXQ=", nil),
        ] as [(String, String?)])
    func `A code is a text that RFC 6749 allows and that repeats no secret`(text: String, code: String?) {
        #expect(ServerWords.code(text, hiding: [Secret("refresh-s3cret")]) == code)
    }

    @Test func `A known code is returned even if a secret has a part of it`() {
        #expect(ServerWords.code("invalid_grant", hiding: [Secret("my-invalid_grant")]) == "invalid_grant")
    }

    @Test func `A name or an address is shown whole, as printable ASCII`() {
        #expect(ServerWords.quoted("a\u{1B}[2J\"é\u{202E}") == "\"a?[2J???" + "???\"")
        #expect(ServerWords.quoted(String(repeating: "a", count: 241)) == "\"" + String(repeating: "a", count: 240) + "...\"")
        #expect(ServerWords.name("https://login.example.com/tenant-0123456789") == "https://login.example.com/tenant-0123456789")
    }

    @Test func `The time of the search for a secret grows with its length, not faster`() throws {
        let words = String(repeating: "aaaaaaa%61", count: 20)
        let factor = try Growth.factor(
            5000, { Secret(String(repeating: "aaaaaaab", count: $0)) }, { _ = ServerWords.text(words, hiding: [$0]) })
        #expect(factor < Growth.linear)
    }
}
