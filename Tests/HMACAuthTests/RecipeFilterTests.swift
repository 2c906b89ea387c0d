import NevodHost
import Testing

/// Each filter from text to text, compared with Python if it has the same function.
struct RecipeFilterTests {
    private static let odd: [UInt8] = Array(0...255)
    private static let oddInPython = "bytes(range(256))"

    @Test func `Each hash function, of each kind of input`() throws {
        var cases: [Evaluation] = []
        for (name, python) in [
            ("md5", "md5"), ("sha1", "sha1"), ("sha224", "sha224"), ("sha256", "sha256"), ("sha384", "sha384"),
            ("sha512", "sha512"), ("sha512-256", "sha512_256"), ("sha3-256", "sha3_256"), ("sha3-384", "sha3_384"),
            ("sha3-512", "sha3_512"),
        ] {
            cases.append(.filter(name, of: Self.odd, "digest('\(python)', \(Self.oddInPython))"))
            cases.append(.filter("\(name)|\(name)", of: "", "digest('\(python)', digest('\(python)', b''))"))
            cases.append(Evaluation("{body|\(name)}", "digest('\(python)', BODY)"))
            cases.append(
                Evaluation("{method|\(name)|hex|\(name)}", "digest('\(python)', digest('\(python)', b'POST').hex().encode())"))
            cases.append(.filter("hmac:\(name):secret", of: Self.odd, "mac('\(python)', \(Self.oddInPython))"))
            cases.append(Evaluation("{body|hmac:\(name):secret}", "mac('\(python)', BODY)"))
            cases.append(Evaluation("{time|seconds|hmac:\(name):secret}", "mac('\(python)', b'1700000000')"))
            cases.append(
                Evaluation(
                    "{method|hmac:\(name):k}", "mac('\(python)', b'POST', digest('\(python)', b'POST'))",
                    before: "let k = {method|\(name)}"))
        }
        try Evaluation.check(cases)
    }

    @Test func `Encodings of bytes, of each length`() throws {
        var cases: [Evaluation] = []
        for count in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 32, 64, 256] {
            let bytes = Array(Self.odd.suffix(count))
            let python = "\(Self.oddInPython)[256 - \(count):]"
            for (name, code) in [
                ("hex", "%.hex().encode()"), ("HEX", "%.hex().upper().encode()"), ("base64", "base64.b64encode(%)"),
                ("base64-unpadded", "base64.b64encode(%).rstrip(b'=')"),
                ("base64url", "base64.urlsafe_b64encode(%).rstrip(b'=')"),
                ("base64url-padded", "base64.urlsafe_b64encode(%)"), ("base32", "base64.b32encode(%)"),
            ] {
                cases.append(.filter(name, of: bytes, code.replacing("%", with: python)))
            }
            for (name, back) in [
                ("hex", "from-hex"), ("HEX", "from-hex"), ("base64", "from-base64"), ("base64-unpadded", "from-base64"),
                ("base64url", "from-base64"), ("base64url-padded", "from-base64"),
            ] { cases.append(.filter("\(name)|\(back)", of: bytes, python)) }
        }
        try Evaluation.check(cases)
    }

    @Test func `Percent-encodings`() throws {
        var cases: [Evaluation] = []
        for (set, python) in [
            ("", "quote(%)"), (":rfc3986", "quote(%)"), (":path", "quote(%, '/')"),
            (":form", "quote(%, ' *').replace(b'~', b'%7E').replace(b' ', b'+')"), (":javascript", #"quote(%, "!'()*")"#),
        ] {
            let code = python.replacing("(%", with: "(\(Self.oddInPython)")
            cases.append(.filter("encode\(set)", of: Self.odd, code))
            if !set.isEmpty {
                cases.append(
                    .filter("encode\(set)-lower", of: Self.odd, #"re.sub(rb'%..', lambda m: m[0].lower(), \#(code))"#))
            }
        }
        cases += [
            .filter("decode", of: "a%2Fb%2f+%zz%2%%41", "b'a/b/+%zz%2%A'"), .filter("decode:form", of: "a+%2B%00", "b'a +\\x00'"),
            .filter("encode|decode", of: Self.odd, Self.oddInPython),
            .filter("encode:form|decode:form", of: Self.odd, Self.oddInPython),
            .filter("decode", of: "", "b''"), .filter("encode", of: "", "b''"),
            .filter("encode:form-lower", of: "Aé%4F", "b'A%c3%a9%254F'"),
        ]
        try Evaluation.check(cases)
    }

    @Test func `Letters and white space`() throws {
        try Evaluation.check([
            .filter("lower", of: Self.odd, "\(Self.oddInPython).lower()"),
            .filter("upper", of: Self.odd, "\(Self.oddInPython).upper()"),
            .filter("trim", of: " \t\r\n a \n b \r\n", "b'a \\n b'"), .filter("trim", of: " \n ", "b''"),
            .filter("collapse", of: " \t a \n\r b\u{A0} c ", "'a b\\u00a0 c'.encode()"), .filter("collapse", of: "  ", "b''"),
            .filter("trim", of: "\u{0}a\u{0}", "b'\\0a\\0'"),
        ])
    }

    @Test func `Texts in front, behind and in place`() throws {
        try Evaluation.check([
            .filter("prefix:a ", of: "b", "b'a b'"), .filter("prefix:a", of: "", "b''"), .filter("suffix:?", of: "b", "b'b?'"),
            .filter("suffix:?", of: "", "b''"), .filter("default:none", of: "", "b'none'"),
            .filter("default:none", of: "a", "b'a'"),
            .filter("default:", of: "", "b''"), .filter("without-prefix:/api", of: "/api/api", "b'/api'"),
            .filter("without-prefix:/api", of: "/ap", "b'/ap'"), .filter("without-prefix:", of: "a", "b'a'"),
            .filter("without-suffix:/", of: "//", "b'/'"), .filter("without-suffix:/", of: "/a", "b'/a'"),
            .filter("without-suffix:abc", of: "bc", "b'bc'"), .filter("without-suffix:", of: "a", "b'a'"),
            .filter("before:.", of: "a.b.c", "b'a'"), .filter("before:.", of: "abc", "b'abc'"),
            .filter("before:..", of: "a.b..c", "b'a.b'"),
            .filter("after:.", of: "a.b.c", "b'b.c'"), .filter("after:.", of: "abc", "b''"), .filter("after:.", of: "a.", "b''"),
            .filter("before:.", of: "", "b''"), .filter("after:.", of: ".", "b''"), .filter("before:abc", of: "ab", "b'ab'"),
            .filter("replace:a:bb", of: "aaca", "b'bbbbcbb'"), .filter("replace:aa:a", of: "aaaaa", "b'aaa'"),
            .filter("replace:a:", of: "aba", "b'b'"), .filter(#"replace:\::\n"#, of: "a:b", #"b'a\nb'"#),
            .filter("replace:%20:+", of: "a%20b%20", "b'a+b+'"),
        ])
    }

    @Test func `Numbers of bytes`() throws {
        var cases: [Evaluation] = []
        for (name, slice) in [
            ("first", "[:%]"), ("last", "[max(5 - %, 0):]"), ("skip", "[%:]"), ("drop-last", "[:max(5 - %, 0)]"),
        ] {
            for count in ["0", "1", "4", "5", "6", "999999999"] {
                cases.append(.filter("\(name):\(count)", of: "abcde", "b'abcde'" + slice.replacing("%", with: count)))
            }
        }
        cases += [
            .filter("length", of: "", "b'0'"), .filter("length", of: "ü", "b'2'"), .filter("length|length", of: Self.odd, "b'3'"),
        ]
        try Evaluation.check(cases)
    }

    @Test func `Text inside of JSON`() throws {
        // Like Python, except for the bytes that need no escape.
        try Evaluation.check([
            .filter("json", of: Array(0..<0x7F), "json.dumps(bytes(range(127)).decode())[1:-1].encode()"),
            .filter("json", of: "ü😀\u{7F}/", "'ü😀\\x7f/'.encode()"), .filter("json", of: "", "b''"),
        ])
    }

    @Test func `Lines`() throws {
        let cases = [
            ("sort-lines", "b:1\na-b:2\na:3\n", "b'a:3\\na-b:2\\nb:1\\n'"), ("sort-lines", "a:2\n\na:1", "b'a:1\\na:2\\n'"),
            ("sort-lines", "", "b''"), ("sort-lines", "b\na\nB:\n", "b'B:\\na\\nb\\n'"),
            ("line-names:;", "b:1\na:2:3\nc\n", "b'b;a;c'"),
            ("line-names:, ", "a:1\n\nb:2", "b'a, b'"), ("line-names:", "a:\nb:\n", "b'ab'"), ("line-names:;", "", "b''"),
            ("sort-lines|line-names:;", "b:1\na:2\n", "b'a;b'"),
        ]
        try Evaluation.check(cases.map { Evaluation("{body|\($0.0)}", $0.2, .body($0.1)) })
        let sent = Sent(headers: [("X-B", "2"), ("X-A", "1"), ("X", "0")])
        try Evaluation.check([
            Evaluation("{lines|sort-lines}", "b'x:0\\nx-a:1\\nx-b:2\\n'", sent, before: "let lines = {headers:x-b;x-a;x}"),
            Evaluation(
                "{lines|sort-lines|line-names:;}", "b'x-a;x-b;x-c'", sent, before: #"let lines = {headers:x-b;x-a}x-c:{method}\n"#
            ),
        ])
    }

    /// A chain of sixteen filters, the maximum.
    @Test func `Filters are applied in their order`() throws {
        try Evaluation.check([
            .filter("upper|lower|hex|HEX|from-hex", of: "Aé", "'aé'.encode().hex().encode()"),
            Evaluation(
                "{method" + String(repeating: "|suffix:x", count: 16) + "}", "b'POST' + b'x' * 16"),
            Evaluation(
                "{method|lower|sha256|hex|upper|hmac:sha1:secret|base64|lower}",
                "b64(mac('sha1', digest('sha256', b'post').hex().upper().encode())).lower().encode()"),
        ])
    }
}
