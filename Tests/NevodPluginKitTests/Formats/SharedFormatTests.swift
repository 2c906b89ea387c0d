import NevodPluginKit
import NevodSupport
import NevodTestSupport
import Testing

/// The formats that kit, host and command line share.
struct SharedFormatTests {
    @Test(
        arguments: [
            (#"{"a":1,"b":{"a":2}}"#, true), (#"{"a":1,"a":1}"#, false), (#"{"a":1,"\u0061":2}"#, false),
            (#"[{"x":{"a":1,"b":2,"a":3}}]"#, false), (#"{"A":1,"a":2}"#, true), (#"{"":1,"":2}"#, false),
            (#"{"\ud83d\ude00":1,"😀":2}"#, false), (#"{"\u00e9":1,"e\u0301":2}"#, true),
        ])
    func `Repeated member names are refused on demand`(text: String, isAccepted: Bool) throws {
        _ = try JSONValue(parsing: text)
        let value = try? JSONValue(parsing: Array(text.utf8).span, repeatedNames: .refused)
        #expect((value != nil) == isAccepted)
    }

    @Test func `An object with many members is read in linear time`() throws {
        let members = (0..<50_000).map { "\"\($0)\":\($0)" }.joined(separator: ",")
        let value = try JSONValue(parsing: Array("{\(members)}".utf8).span, repeatedNames: .refused)
        #expect(value["49999"]?.integer == 49999)
    }

    @Test(arguments: [
        ("[1 2]", 3), ("[1,]", 3), ("{\"a\" 1}", 5), ("\"a\\x\"", 3), ("\"a", 2), ("[tru]", 1), ("1 2", 2), ("{1:2}", 1),
        ("01", 1),
    ])
    func `An error names the place and repeats nothing of the text`(text: String, offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error?.offset == offset)
        #expect(error?.description.hasSuffix(" at byte \(offset)") == true)
    }

    @Test func `Base64 of either alphabet is read and written as Python does`() throws {
        var random = SeededRandom(seed: 4648)
        let blocks = (0..<60).map { count in (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) } }
        let expected = try Judge.python(
            "import base64\ntell([base64.b64encode(bytes.fromhex(v)).decode() for v in cases])",
            blocks.map(Hexadecimal.text), as: String.self)
        for (block, text) in zip(blocks, expected) {
            #expect(block.withUnsafeBytes { Base64.encoded($0) } == text)
            #expect(Base64.decoded(Array(text.utf8), .any) == block)
            #expect(Base64.decoded(Array(text.utf8.filter { $0 != UInt8(ascii: "=") }), .any) == block)
            #expect(Base64.decoded(Array(Base64URL.encoded(block).utf8), .any) == block)
            for form in [
                text, String(text.filter { $0 != "=" }), Base64URL.encoded(block), Base64.encoded(block, .url, padded: true),
            ] {
                #expect(Base64.decoded(Array(form.utf8), .exact) == block)
            }
        }
        for text in ["A", "A===", "AA=", "AAA==", "AAAA====", "=", "AA=A", "A A=", "AAAA\n", "é"] {
            #expect(Base64.decoded(Array(text.utf8), .any) == nil, "\(text)")
            #expect(Base64.decoded(Array(text.utf8), .exact) == nil, "\(text)")
        }
    }

    /// Both alphabets in one text, and bits at the end that encode nothing: a typo, which would be another secret.
    @Test func `Exact base64 is only what an encoder writes`() {
        for text in ["+_8=", "-/8", "AAA/AA-A", "__++", "AB==", "AB", "AAB=", "AAB", "_f", "//9"] {
            #expect(Base64.decoded(Array(text.utf8), .exact) == nil, "\(text)")
        }
        for (text, bytes) in [("", []), ("+/8=", [0xFB, 0xFF]), ("-_8", [0xFB, 0xFF]), ("_w", [0xFF]), ("_w==", [0xFF])]
            as [(String, [UInt8])]
        {
            #expect(Base64.decoded(Array(text.utf8), .exact) == bytes, "\(text)")
        }
    }

    @Test func `Hexadecimal digits in either case are read, lower-case ones are written`() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Hexadecimal.text(bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        for text in [text, text.uppercased()] {
            #expect(Array(text.utf8).withUnsafeBytes { Hexadecimal.secret($0) } == Secret(copying: bytes))
        }
        #expect(Hexadecimal.digits(of: Secret(copying: bytes)) == Secret(text))
        #expect(Hexadecimal.line(Secret(copying: bytes)) == Secret(text + "\n"))
        for text in ["0", "0g", "g0", "+1", " 1", "0x11", "é"] {
            #expect(Array(text.utf8).withUnsafeBytes { Hexadecimal.secret($0) } == nil, "\(text)")
        }
    }

    @Test func `Percent-encoding is read and written as Python does`() throws {
        var random = SeededRandom(seed: 3986)
        let words = ["a", "%41", "%e4", "%C3%A4", "%", "%4", "%zz", "%+1", "+", " ", "ä", "~", "/", "%25"]
        let texts = words + (0..<300).map { _ in random.text(of: words, upTo: 6) }
        let decoded = try Judge.python(
            "import urllib.parse\ntell([list(urllib.parse.unquote_to_bytes(v)) for v in cases])", texts, as: [UInt8].self)
        let encoded = try Judge.python(
            "import urllib.parse\ntell([urllib.parse.quote(v, safe='') for v in cases])", texts, as: String.self)
        for (text, (decoded, encoded)) in zip(texts, zip(decoded, encoded)) {
            #expect(PercentEncoding.decoded(text.utf8, plusIsSpace: false) == decoded, "\(text)")
            #expect(String(decoding: PercentEncoding.queryItem(text.utf8), as: UTF8.self) == encoded, "\(text)")
            #expect(PercentEncoding.strictlyDecoded(encoded.utf8) == Array(text.utf8))
        }
        #expect(PercentEncoding.decoded("a+b%2Bc".utf8) == Array("a b+c".utf8))
        for text in ["%", "a%4", "%zz", "%+1", "%4%41"] { #expect(PercentEncoding.strictlyDecoded(text.utf8) == nil) }
    }

    @Test func `A token's bytes are those of RFC 9110`() {
        let bytes = (0...255).map { UInt8($0) }.filter(\.isTokenByte)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~")
    }
}
