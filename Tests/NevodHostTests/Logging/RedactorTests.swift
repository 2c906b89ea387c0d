import Testing

@testable import NevodHost

struct RedactorTests {
    private func redactor(_ edit: (inout HTTPRequest) throws -> Void = { _ in }) throws -> Redactor {
        var request = try HTTPRequest(.get, "http://h/p")
        try edit(&request)
        return Redactor(names: .default, request: request)
    }

    // MARK: Names

    @Test(arguments: [
        "Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-API-Key", "apiKey", "api_key", "X-Amz-Signature",
        "access_token", "refresh_token", "id_token", "client_secret", "password", "newPassword", "code", "code_verifier",
        "client_assertion", "X-Auth-Token", "X-CSRF-Token", "key", "sig", "user[password]", "user[code]", "data.pin",
        "AWSAccessKeyId", "SAMLResponse", "PIN", "oauth_signature", "X-Amz-Credential", "private_key",
    ])
    func `Names of secrets are recognized`(name: String) {
        #expect(RedactedNames.default.contains(name.utf8))
    }

    @Test(arguments: [
        "Accept", "Content-Type", "WWW-Authenticate", "Proxy-Authenticate", "token_type", "expires_in", "encode", "postcode",
        "keyboard", "error_code", "provenance", "state", "Idempotency-Key", "", "ping", "passenger", "side",
    ])
    func `Other names are not taken for secrets`(name: String) {
        #expect(!RedactedNames.default.contains(name.utf8))
    }

    @Test func `Custom names are recognized`() {
        let names = RedactedNames.default.adding(["ssn", "*card*"])
        for name in ["SSN", "cardNumber", "X-Card", "token"] { #expect(names.contains(name.utf8)) }
        #expect(!names.contains("ssns".utf8))
        let only = RedactedNames(["ssn", "*", ""])
        #expect(only.contains("ssn".utf8) && !only.contains("token".utf8) && !only.contains("x".utf8))
    }

    // MARK: Text in any notation

    private static let texts: [(text: String, redacted: String)] = [
        ("http://h/?a=1&access_token=abcd&b=2", "http://h/?a=1&access_token=[redacted]&b=2"),
        ("http://h/?access%5Ftoken=abcd#x", "http://h/?access%5Ftoken=[redacted]#x"),
        ("http://h/#id_token=abcd", "http://h/#id_token=[redacted]"),
        ("http://h/?next=http%3A%2F%2Fg%2F%3Fcode%3Dabcd&x=1", "http://h/?next=[redacted]&x=1"),
        ("http://user:pw@h/p", "http://[redacted]@h/p"), ("http://h/a@b", "http://h/a@b"),
        ("Authorization: Bearer abcd efgh", "Authorization: [redacted] efgh"),
        ("password: x, next", "password: [redacted], next"),
        ("{\"body\":\"{\\\"password\\\":\\\"abcd\\\"}\"}", "{\"body\":\"{\\\"password\\\":\\\"[redacted]\\\"}\"}"),
        ("<a><password>abcd</password></a>", "<a><password>[redacted]</password></a>"),
        ("<a password='x y' b='c'/>", "<a password='[redacted]' b='c'/>"),
        ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln end", "token [redacted] end"),
        ("code=[redacted: token T]&x", "code=[redacted: token T]&x"),
        ("Digest realm=\"r\", nonce=\"n0nce\"", "Digest realm=\"r\", nonce=\"n0nce\""),
        ("nothing = here", "nothing = here"), ("", ""), ("token", "token"), ("token=", "token="), ("token=\"", "token=\""),
        ("= : >", "= : >"), ("eyJ.", "eyJ."), ("://@", "://@"), ("é=1&tokené=2", "é=1&tokené=[redacted]"),
    ]

    @Test(arguments: texts)
    func `Secrets in text are redacted`(text: String, redacted: String) throws {
        #expect(try redactor().text(text) == redacted)
    }

    // MARK: Bodies

    private static let bodies: [(type: String?, body: String, shown: String)] = [
        ("application/json", #"{"user":"u","password":"p\"w","n":1}"#, #"{"user":"u","password":"[redacted]","n":1}"#),
        (
            "application/json", #"{"access_token" : "abcdefgh", "token_type":"Bearer"}"#,
            #"{"access_token" : "[redacted]", "token_type":"Bearer"}"#
        ),
        (
            "application/json", #"{"tokens":[{"a":["]"]},2],"b":{"secret":{"c":"}"},"d":3}}"#,
            #"{"tokens":"[redacted]","b":{"secret":"[redacted]","d":3}}"#
        ),
        ("application/json", #"{"pin":1234,"code":null,"token":true}"#, #"{"pin":"[redacted]","code":null,"token":true}"#),
        ("application/json", #"{"pass\u0077ord":"abcd"}"#, #"{"pass\u0077ord":"[redacted]"}"#),
        ("application/problem+json", #"{"secret":"abcd"}"#, #"{"secret":"[redacted]"}"#),
        // Truncated or malformed.
        ("application/json", #"{"secret":"abcd"#, #"{"secret":"[redacted]""#),
        ("application/json", #"{"secret":["abcd"#, #"{"secret":"[redacted]""#),
        ("application/json", #"{"secret":"#, #"{"secret":"#), ("application/json", #"{"secret"#, #"{"secret"#),
        ("application/json", #"{"a\"#, #"{"a\"#), ("application/json", #"{"secret":"a\"#, #"{"secret":"[redacted]""#),
        // Recognized as JSON by its content.
        (nil, " [{\"secret\":\"a,b\"}]", " [{\"secret\":\"[redacted]\"}]"),
        ("text/plain", "{\"secret\":\"a,b\"}", "{\"secret\":\"[redacted]\"}"),
        (
            "application/x-www-form-urlencoded", "grant_type=password&username=u&password=p%26w&client_secret=s",
            "grant_type=password&username=u&password=[redacted]&client_secret=[redacted]"
        ),
        ("text/html; charset=utf-8", "<p>hello</p>", "<p>hello</p>"),
        ("multipart/form-data; boundary=x", "--x", "[3 bytes of multipart/form-data]"),
        ("image/png", "PNG", "[3 bytes of image/png]"), (nil, "a\0b", "[3 bytes]"),
    ]

    @Test(arguments: bodies)
    func `Secrets in bodies are redacted`(type: String?, body: String, shown: String) throws {
        var redactor = try redactor()
        let result = redactor.body(Array(body.utf8), type: type, limit: 4096)
        #expect(result == shown)
    }

    @Test func `A body that isn't text is not shown`() throws {
        var redactor = try redactor()
        let (binary, empty) = (
            redactor.body([0xFF, 0xFE, 0x41], type: "text/plain", limit: 10), redactor.body([], type: nil, limit: 10)
        )
        #expect(binary == "[3 bytes of text/plain]" && empty == nil)
    }

    @Test func `A long body is cut between characters`() throws {
        var redactor = try redactor()
        let text = "a" + String(repeating: "é", count: 100_000)
        let shown = redactor.body(Array(text.utf8), type: "text/plain", limit: 100)
        #expect(shown == "a" + String(repeating: "é", count: 49) + "[… of 200001 bytes]")
    }

    /// Puts a secret at every position at which the shown text or the searched text could end within it.
    @Test func `A cut leaves no part of a secret`() throws {
        let secret = "Zq8vXw7yKp3Rt5Lm"
        var redactor = try redactor { request in
            request.provenance = .token("T")
            try request.setHeader("Authorization", "Bearer \(secret)")
        }
        let limit = 64
        let looked = 2 * limit + 4096
        for fill in [limit - 20..<limit + 4, looked - 20..<looked + 40].joined() {
            let text = String(repeating: "x", count: fill) + secret + String(repeating: "y", count: 10_000)
            let shown = redactor.body(Array(text.utf8), type: "text/plain", limit: limit) ?? ""
            #expect(!shown.contains("Zq8"), "\(fill)")
        }
        // Redactions shorten the text, so that the end of the searched part is shown.
        let long = String(repeating: secret, count: 8)
        redactor.learn(long.utf8)
        let many = String(repeating: long, count: 400)
        for shift in stride(from: 0, to: long.count, by: 17) {
            let text = String(repeating: "x", count: shift) + many
            let shown = redactor.body(Array(text.utf8), type: "text/plain", limit: 4096) ?? ""
            #expect(!shown.contains("Zq8") && !shown.contains("Lm"), "\(shift)")
        }
    }

    // MARK: Known values

    @Test func `Values that a token wrote are redacted in every spelling`() throws {
        let secret = "s3cr/t+v&l\"ue"
        let redactor = try redactor { request in
            request.provenance = .token("T")
            request.appendQueryItem("q".utf8, secret.utf8)
            request.provenance = .scheme("s")
            try request.setHeader("X-Thing", "Scheme p4ssw0rd")
            try request.setCookie("c", "c00kie")
            request.provenance = .caller
            try request.setHeader("Authorization", "Basic dXNlcjp3b3JkMTIz")
            try request.setHeader("X-Other", "visible")
        }
        for leak in [
            secret, "s3cr%2Ft%2Bv%26l%22ue", "s3cr%2ft%2bv%26l%22ue", "s3cr\\/t+v&l\"ue", "p4ssw0rd", "Scheme p4ssw0rd", "c00kie",
            "dXNlcjp3b3JkMTIz", "user:word123", "word123",
        ] {
            #expect(redactor.text("<\(leak)>") == "<[redacted]>", "\(leak)")
        }
        #expect(redactor.text("visible") == "visible")
    }

    @Test func `Short values are not searched for`() throws {
        let redactor = try redactor { request in
            request.provenance = .token("T")
            try request.setHeader("X", "abc")
        }
        #expect(redactor.text("abc") == "abc")
    }

    @Test func `Cookies that a server sets show their names`() throws {
        var redactor = try redactor()
        let line = HTTPHeaders.Element(name: "set-COOKIE", value: "sid=abcdef; Path=/; HttpOnly", provenance: .host)
        let shown = redactor.value(of: line)
        #expect(shown == "sid=[redacted]; Path=/; HttpOnly")
        #expect(redactor.text("abcdef /") == "[redacted] /")
        let odd = redactor.value(of: HTTPHeaders.Element(name: "Set-Cookie", value: "abcdef", provenance: .host))
        #expect(odd == "[redacted]")
    }

    @Test(arguments: ["Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "Set-Cookie2"])
    func `A credential's field is hidden even in logs whose program chose other names`(name: String) throws {
        var redactor = Redactor(names: RedactedNames(["x-patient"]), request: try HTTPRequest(.get, "http://h/p"))
        let shown = redactor.value(of: HTTPHeaders.Element(name: name, value: "sid=abcdef", provenance: .caller))
        #expect(shown.hasSuffix("[redacted]") && !shown.contains("abcdef"))
    }

    @Test func `A cookie that Set-Cookie2 sets is hidden wherever it recurs`() throws {
        var redactor = try redactor()
        _ = redactor.value(of: HTTPHeaders.Element(name: "Set-Cookie2", value: "sid=abcdef; Version=1", provenance: .host))
        #expect(redactor.text("abcdef /") == "[redacted] /")
    }
}
