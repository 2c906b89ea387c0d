import NevodHost
import Testing

/// Every placeholder, encoding and time format, compared with Python.
struct SettingsTests {
    struct Case {
        let settings: [String: String]
        var header = "X-Signature"
        var secret = "s3cret"
        var time = someTime
        /// A Python expression for the expected value.
        let expected: String
    }

    /// The setting `message`, and the expected message in Python.
    static let messages = [
        ("{method}", "b'POST'"), ("{path}", "b'/a%2Fb/%C3%B8%'"), ("{path:decoded}", "b'/a/b/\\xc3\\xb8%'"),
        ("{target}", "b'/a%2Fb/%C3%B8%?b=2&a=3&b=1&&a&a-b=0'"), ("{query}", "b'b=2&a=3&b=1&&a&a-b=0'"),
        ("{query:sorted}", "b'&a&a=3&a-b=0&b=1&b=2'"), ("{host}", "b'api.example.com:8443'"), ("{scheme}", "b'https'"),
        ("{timestamp}", "b'1700000000'"), ("{key}", "b'demo'"), ("{body}", "BODY"),
        ("{body-hash}", "digest('sha256', BODY).hex().encode()"), ("{header:x-LIST}", "b'one, two'"),
        ("{header:Missing?}", "b''"), ("", "b''"), (#"a\n\r\t\\\{\}{{}}ø"#, #""a\n\r\t\\{}{}ø".encode()"#),
        (
            "{method}\\n{path}\\n{timestamp}\\n{body-hash}",
            "b'POST\\n/a%2Fb/%C3%B8%\\n1700000000\\n' + digest('sha256', BODY).hex().encode()"
        ),
        // The signature from "Request Signing Middleware": body and time.
        ("{body}{timestamp}", "BODY + b'1700000000'"),
    ]

    static let times = [
        ("seconds", "'1700000000'"), ("milliseconds", "'1700000000123'"), ("rfc1123", "httpdate()"),
        ("rfc3339", "utc('%Y-%m-%dT%H:%M:%SZ')"), ("rfc3339-milliseconds", "utc('%Y-%m-%dT%H:%M:%S') + '.123Z'"),
    ]

    static let cases: [Case] = {
        var cases = messages.map { Case(settings: ["message": $0.0], expected: "mac('sha256', \($0.1)).hex()") }
        for algorithm in ["sha256", "sha384", "sha512"] {
            cases.append(
                Case(
                    settings: ["message": "{body-hash}", "algorithm": algorithm],
                    expected: "mac('\(algorithm)', digest('\(algorithm)', BODY).hex().encode()).hex()"))
            cases.append(
                Case(
                    settings: ["message": "{body-hash}", "body-hash": algorithm, "body-hash-encoding": "base64"],
                    expected: "mac('sha256', b64(digest('\(algorithm)', BODY)).encode()).hex()"))
            // Lengths with one, two and no bytes after the last group of three.
            for (encoding, function) in [
                ("hex", "%.hex()"), ("HEX", "%.hex().upper()"), ("base64", "b64(%)"), ("base64url", "b64url(%)"),
            ] {
                let code = "mac('\(algorithm)', b'POST')"
                cases.append(
                    Case(
                        settings: ["message": "{method}", "algorithm": algorithm, "encoding": encoding],
                        expected: function.replacing("%", with: code)))
                cases.append(
                    Case(
                        settings: [
                            "message": "{body-hash}", "body-hash": algorithm, "body-hash-encoding": encoding,
                            "body-hash-header": "X-Hash",
                        ],
                        header: "X-Hash", expected: function.replacing("%", with: "digest('\(algorithm)', BODY)")))
            }
        }
        for (format, text) in times {
            cases.append(
                Case(settings: ["message": "{timestamp}", "timestamp": format], header: "X-Timestamp", expected: text))
            cases.append(
                Case(
                    settings: ["message": "{timestamp}", "timestamp": format], expected: "mac('sha256', (\(text)).encode()).hex()"
                ))
        }
        // The calendar's edge cases: its first second, leap days, and a year that is divisible by 100.
        for seconds: Int64 in [
            0, 59, 86_399, 86_400, 68_169_599, 951_782_400, 951_868_799, 951_868_800, 1_709_164_800, 1_735_689_599, 1_735_689_600,
            4_107_542_399, 4_107_542_400, 9_223_372_036,
        ] {
            let time = seconds * 1_000_000_000
            cases.append(
                Case(
                    settings: ["message": "{timestamp}", "timestamp": "rfc1123"], header: "X-Timestamp", time: time,
                    expected: "httpdate(\(seconds))"))
            cases.append(
                Case(
                    settings: ["message": "{timestamp}", "timestamp": "rfc3339-milliseconds"], header: "X-Timestamp", time: time,
                    expected: "utc('%Y-%m-%dT%H:%M:%S', \(seconds)) + '.000Z'"))
        }
        for (encoding, secret) in [
            ("hex", "00fF10"), ("base64", "AP8Q"), ("base64", "AP8="), ("base64", "AP8"), ("base64", "+/+/AA=="),
            ("base64", "-_-_AA"),
        ] {
            let key =
                encoding == "hex"
                ? "bytes.fromhex('\(secret)')"
                : "base64.urlsafe_b64decode('\(secret)'.replace('+', '-').replace('/', '_').rstrip('=') + '==')"
            cases.append(
                Case(
                    settings: ["message": "{method}", "secret-encoding": encoding], secret: secret,
                    expected: "mac('sha256', b'POST', \(key)).hex()"))
        }
        cases.append(
            Case(
                settings: [
                    "message": "{timestamp}", "signature-header": "Authorization", "body-hash": "sha512",
                    "body-hash-encoding": "base64url",
                    "signature-value": "HMAC {key}:{signature};{{{timestamp}}}; {body-hash} {signature}",
                ],
                header: "Authorization",
                expected: "(lambda code: 'HMAC demo:' + code + ';{1700000000}; ' + b64url(digest('sha512', BODY)) + ' ' + code)"
                    + "(mac('sha256', b'1700000000').hex())"))
        return cases
    }()

    @Test func `Signatures are those that Python computes`() throws {
        let expected = try Python.evaluate(Self.cases.map(\.expected))
        for (test, value) in zip(Self.cases, expected) {
            var request = try HTTPRequest(
                .post, "https://api.example.com:8443/a%2Fb/ø%?b=2&a=3&b=1&&a&a-b=0", body: .bytes(Array("Hello".utf8)))
            try request.addHeader("X-List", "one")
            try request.addHeader("X-List", "two")
            let settings = test.settings.merging(["api-key": "demo"]) { given, _ in given }
            let signed = try sign(request, settings, secret: test.secret, at: test.time)
            #expect(signed.headers[test.header] == value, "\(test.settings) at \(test.time)")
        }
    }

    /// Sizes around the limit up to which pieces are gathered, and far above it.
    @Test(arguments: [0, 1, 510, 511, 512, 513, 1024, 5 << 20])
    func `A body of any size is signed`(_ count: Int) throws {
        let text = "b'x' * \(count)"
        let expected = try Python.evaluate([
            "mac('sha256', b'POST:' + \(text) + b':' + \(text) + b'.').hex()", "mac('sha256', b'\(count),/').hex()",
        ])
        let request = try HTTPRequest(
            .post, "https://example.com/", body: .bytes(Array(repeating: UInt8(ascii: "x"), count: count)))
        #expect(try sign(request, ["message": "{method}:{body}:{body}."]).headers["X-Signature"] == expected[0])
        #expect(try sign(request, ["message": "\(count),{path}"]).headers["X-Signature"] == expected[1])
    }

    @Test func `A request without a body is signed`() throws {
        let request = try HTTPRequest(.get, "https://example.com/")
        let settings = ["message": "{body}{query}{query:sorted}{body-hash}", "body-hash-header": "X-Hash"]
        #expect(try sign(request, settings).headers["X-Hash"] == "")
        let hashed = try sign(request, settings.merging(["empty-body-hash": "hash"]) { $1 })
        #expect(hashed.headers["X-Hash"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        let expected = try Python.evaluate(["mac('sha256', digest('sha256', b'').hex().encode()).hex()"])
        #expect(hashed.headers["X-Signature"] == expected[0])
    }

    @Test func `A nonce is sent only if it is signed, and differs each time`() throws {
        let request = try HTTPRequest(.get, "https://example.com/")
        #expect(try sign(request, [:]).headers.contains("X-Nonce") == false)
        let token = try makeToken(["message": "{nonce}"])
        var nonces: Set<String> = []
        for _ in 0..<100 {
            var signed = request
            try token.authorize(&signed)
            let nonce = try #require(signed.headers["X-Nonce"])
            #expect(nonce.utf8.count == 32 && nonce.allSatisfy(\.isHexDigit) && nonce == nonce.lowercased())
            nonces.insert(nonce)
            if nonces.count == 1 {
                let expected = try Python.evaluate(["mac('sha256', b'\(nonce)').hex()"])
                #expect(signed.headers["X-Signature"] == expected[0])
            }
        }
        #expect(nonces.count == 100)
    }

    @Test func `A part with an empty name isn't sent`() throws {
        let signed = try sign(
            HTTPRequest(.get, "https://example.com/"),
            [
                "api-key": "demo", "message": "{timestamp}{nonce}", "key-header": "", "timestamp-header": "", "nonce-header": "",
                "signature-header": "Authorization",
            ])
        #expect(signed.headers.map(\.name).filter { $0 != "Host" && $0 != "Accept" } == ["Authorization"])
    }

    /// Threads never share contexts.
    @Test func `One key signs on many threads`() async throws {
        let token = try makeToken(["message": "{target}"])
        let expected = try Python.evaluate((0..<64).map { "mac('sha256', b'/\($0)').hex()" })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, value) in expected.enumerated() {
                group.addTask {
                    for _ in 0..<50 {
                        var request = try HTTPRequest(.get, "https://example.com/\(index)")
                        try token.authorize(&request)
                        #expect(request.headers["X-Signature"] == value)
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
