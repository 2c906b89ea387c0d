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

    /// A mix of both alphabets, and leftover bits at the end, are typos that would give another secret.
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

    @Test func `Numbers are written and read with the most significant byte first`() {
        #expect(Int64(-2).bigEndianBytes == [255, 255, 255, 255, 255, 255, 255, 254])
        #expect(UInt16(0x0102).bigEndianBytes == [1, 2])
        for number in [Int64.min, -1, 0, 1, 0x0102_0304_0506_0708, .max] {
            #expect(Int64(bigEndianBytes: number.bigEndianBytes) == number)
        }
        #expect(UInt128(bigEndianBytes: UInt128.max.bigEndianBytes) == .max)
        let none: [UInt8] = []
        #expect(Int64(bigEndianBytes: none) == 0)
        #expect(Int64(bigEndianBytes: [1, 0]) == 256)
        #expect(UInt16(bigEndianBytes: [9, 1, 2]) == 0x0102)
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

    @Test func `Headers of the transport are known in any letter case, and no others`() {
        let names = [
            "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "TE", "Upgrade",
            "Expect",
            "Trailer", "Proxy-Authorization",
        ]
        for name in names {
            #expect([name, name.lowercased(), name.uppercased()].allSatisfy { TransportHeader.has($0.utf8) }, "\(name)")
            #expect(!TransportHeader.has("\(name.dropLast())x".utf8) && !TransportHeader.has("\(name)s".utf8), "\(name)")
        }
        #expect(!TransportHeader.has("".utf8) && !TransportHeader.has("Authorization".utf8))
    }

    @Test func `A server's JSON may begin with a byte order mark, and repeats no name`() {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        #expect((try? JSONValue(response: mark + Array(#"{"a":1}"#.utf8))) == ["a": 1])
        for text in ["", "{\"a\":1,\"a\":2}", "\u{FEFF}{}"] {
            #expect(throws: JSONError.self) { try JSONValue(response: mark + Array(text.utf8)) }
        }
        #expect(throws: JSONError.self) { try JSONValue(response: Array(mark.prefix(2))) }
    }

    @Test func `Latin-1 in a server's JSON is read only on request`() {
        let body = Array(#"{"error":"a","text":"b"#.utf8) + [0xE4] + Array(#""}"#.utf8)
        #expect(throws: JSONError.self) { try JSONValue(response: body) }
        #expect((try? JSONValue(response: body.span, repairsText: true)) == ["error": "a", "text": "b\u{FFFD}"])
        #expect(throws: JSONError.self) { try JSONValue(response: Array("{\"a\":".utf8).span, repairsText: true) }
    }

    @Test func `A byte order mark counts only at the beginning, and only whole`() {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        for (text, rest) in [("\u{FEFF}a", "a"), ("a\u{FEFF}", "a\u{FEFF}"), ("", ""), ("\u{FEFF}", "")] {
            #expect(Array(text.utf8.withoutByteOrderMark) == Array(rest.utf8))
        }
        #expect(Array(mark.prefix(2).withoutByteOrderMark) == [0xEF, 0xBB])
    }

    @Test func `A token's bytes are those of RFC 9110`() {
        let bytes = (0...255).map { UInt8($0) }.filter(\.isTokenByte)
        #expect(
            String(decoding: bytes, as: UTF8.self)
                == "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~")
    }
}
