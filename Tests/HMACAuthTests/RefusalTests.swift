import NevodHost
import Testing

/// The errors for invalid settings name the setting and the way out, and never contain the secret.
struct RefusalTests {
    struct Case: CustomTestStringConvertible {
        let settings: [String: String]
        var secret = "s3cret"
        let fragments: [String]
        var testDescription: String { "\(settings)" }
    }

    @Test(arguments: [
        Case(
            settings: ["message": "{metod}"],
            fragments: ["message has", "{metod}", "{method}, {scheme}", "{header:NAME}", "{body-hash}"]),
        Case(settings: ["message": "{signature}"], fragments: ["message has", "{signature}"]),
        Case(settings: ["message": "{}"], fragments: ["message has", "{}"]),
        Case(settings: ["message": "{header:}"], fragments: ["message has", "{header:}"]),
        Case(settings: ["message": "{header:a b}"], fragments: ["message has", "{header:a b}"]),
        Case(settings: ["message": "{method"], fragments: ["message has a {", "{{"]),
        Case(settings: ["message": "method}"], fragments: ["message has a }", "}}"]),
        Case(settings: ["message": #"\x"#], fragments: ["message has a \\"]),
        Case(settings: ["message": #"a\"#], fragments: ["message has a \\"]),
        Case(settings: ["signature-value": "{signature} {sign}"], fragments: ["signature-value has", "{sign}", "{signature}"]),
        Case(settings: ["signature-value": "{key}", "api-key": "a"], fragments: ["signature-value must contain {signature}"]),
        Case(settings: ["signature-header": ""], fragments: ["signature-header must not be empty", "signature-query"]),
        Case(settings: ["message": "{key}"], fragments: ["api-key must not be empty", "message"]),
        Case(settings: ["signature-value": "{key}:{signature}"], fragments: ["api-key must not be empty", "signature-value"]),
        Case(settings: ["key-header": "X Key"], fragments: ["key-header must be a header's name"]),
        Case(settings: ["signature-header": "X-Signature:"], fragments: ["signature-header must be a header's name"]),
        Case(settings: ["encoding": "Hex"], fragments: ["\"encoding\"", "hex, HEX, base64, base64url"]),
        Case(settings: [:], secret: "", fragments: ["secret must not be empty"]),
        Case(settings: ["secret-encoding": "hex"], secret: "c0ffeh", fragments: ["secret is not valid hex"]),
        Case(settings: ["secret-encoding": "hex"], secret: "c0ffe", fragments: ["secret is not valid hex"]),
        Case(settings: ["secret-encoding": "base64"], secret: "c0ffe", fragments: ["secret is not valid base64"]),
        Case(settings: ["secret-encoding": "base64"], secret: "c0ff$w==", fragments: ["secret is not valid base64"]),
        Case(settings: ["secret-encoding": "base64"], secret: "c0f=f", fragments: ["secret is not valid base64"]),
        Case(settings: ["secret-encoding": "base64"], secret: "c0ff=", fragments: ["secret is not valid base64"]),
        Case(settings: ["secret-encoding": "base64"], secret: "c0ffee==\n", fragments: ["secret is not valid base64"]),
        Case(settings: ["secret-encoding": "base64"], secret: "====", fragments: ["secret"]),
    ])
    func `An invalid setting is refused with its name and the way out`(_ test: Case) throws {
        let error = try #require(throws: PluginError.self) { try makeToken(test.settings, secret: test.secret) }
        for fragment in test.fragments { #expect("\(error)".contains(fragment), "\(error)") }
        #expect(test.secret.isEmpty || !"\(error)".contains(test.secret))
    }

    @Test(arguments: [
        ("message", "{target}"), ("algorithm", "sha512"), ("encoding", "base64"), ("timestamp", "rfc3339"),
        ("body-hash", "sha256"),
        ("body-hash-encoding", "base64"), ("empty-body-hash", "hash"), ("key-header", ""), ("timestamp-header", "X-T"),
        ("nonce-header", "X-N"), ("body-hash-header", "X-H"), ("signature-header", "X-S"), ("signature-value", "v1 {signature}"),
        ("timestamp-query", "t"), ("signature-query", "s"),
    ])
    func `A setting of the short form is refused beside a recipe`(_ setting: String, _ value: String) throws {
        let recipe = "header S = {target|hmac:sha256:secret|hex}"
        let error = try #require(throws: PluginError.self) { try makeToken(["recipe": recipe, setting: value]) }
        #expect("\(error)".contains("\(setting) has no effect together with a recipe"), "\(error)")
        // `accept` lines alone aren't a recipe.
        _ = try makeToken(["recipe": "accept unbound-signature\naccept unsigned-time\naccept unsigned-nonce", setting: value])
    }

    @Test func `A recipe without a statement is refused, in place of the default message`() throws {
        for recipe in ["# nothing yet", "\n  \n", "# nothing\n\n# at all"] {
            let error = try #require(throws: PluginError.self) { try makeToken(["recipe": recipe]) }
            #expect("\(error)".contains("the recipe has no statement"), "\(error)")
        }
    }

    @Test func `The short form is checked as a recipe is`() throws {
        for (message, fragment) in [
            ("{key}{timestamp}", "covers nothing of the request"), ("x", "covers nothing of the request"),
        ] {
            let error = try #require(throws: PluginError.self) {
                try makeToken(["message": message, "recipe": "accept unsigned-time", "api-key": "demo"])
            }
            #expect("\(error)".contains("message is refused: ") && "\(error)".contains(fragment), "\(error)")
        }
    }

    private final class Reader: HTTPBodyReader {
        func read(upTo count: Int) async throws -> [UInt8] { [] }
    }

    @Test(arguments: [("{body}", "{body} can't sign"), ("{body-hash}", "read only once")])
    func `A streamed body is refused if the message needs it`(_ message: String, _ fragment: String) throws {
        let stream = HTTPBodyStream(length: 5, isReplayable: false) { Reader() }
        let request = try HTTPRequest(.post, "https://example.com/", body: .stream(stream))
        let error = try #require(throws: PluginError.self) { try sign(request, ["message": message]) }
        #expect("\(error)".contains(fragment), "\(error)")
        // A message that uses neither can be signed.
        #expect(try sign(request, ["message": "{method}"]).headers.contains("X-Signature"))
    }
}
