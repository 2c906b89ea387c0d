import NevodPluginKit
import NevodSupport
import Testing

@testable import OAuth2Auth

/// The one classification of what a server responds: only a refusal of the grant ends a session.
struct ServerAnswerTests {
    struct Case: CustomTestStringConvertible {
        var status = 400
        var headers: [(name: String, value: String)] = []
        let body: String
        var isFromProxy = false
        let meaning: ServerAnswer.Meaning
        var testDescription: String { "\(status) \(body)" }
    }

    @Test(arguments: [
        // RFC 6749 §5.2
        Case(body: #"{"error":"invalid_grant"}"#, meaning: .refusal),
        Case(body: #"{"error":"invalid_client"}"#, meaning: .client),
        Case(body: #"{"error":"unauthorized_client"}"#, meaning: .client),
        Case(body: #"{"error":"unsupported_grant_type"}"#, meaning: .setting("grant")),
        Case(body: #"{"error":"invalid_scope"}"#, meaning: .setting("scope")),
        Case(body: #"{"error":"invalid_request"}"#, meaning: .unknown),
        // RFC 8707, 8628, 9449
        Case(body: #"{"error":"invalid_target"}"#, meaning: .setting("resource or audience")),
        Case(body: #"{"error":"expired_token"}"#, meaning: .refusal),
        Case(body: #"{"error":"slow_down"}"#, meaning: .outage),
        Case(body: #"{"error":"use_dpop_nonce"}"#, meaning: .outage),
        // Auth0's, for a wrong client-secret.
        Case(status: 401, body: #"{"error":"access_denied","error_description":"Unauthorized"}"#, meaning: .client),
        Case(status: 403, body: #"{"error":"access_denied"}"#, meaning: .refusal),
        // Status
        Case(status: 500, body: #"{"error":"invalid_grant"}"#, meaning: .outage),
        Case(status: 429, body: #"{"error":"invalid_grant"}"#, meaning: .outage),
        Case(status: 401, body: #"{"error":"invalid_grant"}"#, isFromProxy: true, meaning: .outage),
        Case(status: 401, headers: [("WWW-Authenticate", "Basic")], body: "", meaning: .client),
        Case(status: 401, body: "", meaning: .refusal),
        Case(status: 400, body: "", meaning: .refusal),
        // A firewall's.
        Case(status: 403, body: "", meaning: .otherFormat),
        Case(status: 404, body: "", meaning: .otherFormat),
        Case(status: 401, body: " ", meaning: .otherFormat),
        // Other forms
        Case(body: "error=invalid_grant", meaning: .refusal),
        Case(body: "<a href=\"?a&error=invalid_grant&b\">", meaning: .otherFormat),
        Case(body: #"{"error":{"code":400,"status":"UNAVAILABLE"}}"#, meaning: .unknown),
        Case(body: #"{"error":{"type":"invalid_grant"}}"#, meaning: .refusal),
        Case(body: #"{"error":"invalid_grant","error":"server_error"}"#, meaning: .otherFormat),
        Case(body: #"{"error":"invalid\u005fgrant"}"#, meaning: .refusal),
        Case(body: #"{"error":"INVALID_GRANT"}"#, meaning: .unknown),
        Case(body: #"{"error":"invalid_grant\u0301"}"#, meaning: .unknown),
        Case(status: 200, body: #"{"ok":false}"#, meaning: .unknown),
        Case(status: 200, body: #"{"ok":false,"error":"invalid_refresh_token"}"#, meaning: .refusal),
        Case(status: 200, body: #"{"error":"bad_refresh_token"}"#, meaning: .refusal),
        Case(status: 200, body: #"{"error":"incorrect_client_credentials"}"#, meaning: .client),
    ])
    func `The meaning of a failure`(_ example: Case) {
        let answer = ServerAnswer(
            status: example.status, headers: example.headers, body: Secret(example.body), isFromProxy: example.isFromProxy)
        #expect(answer.meaning == example.meaning)
        #expect(throws: SchemeError.self) { try answer.success("it") }
    }

    @Test(arguments: [#"{"access_token":"a"}"#, #"{"ok":true,"error":""}"#, #"{"error":null}"#, "access_token=a&scope="])
    func `Successes`(_ body: String) throws {
        _ = try ServerAnswer(status: 200, headers: [], body: Secret(body)).success("it")
    }

    @Test func `A reason shows nothing that was sent`() {
        var answer = ServerAnswer(
            status: 400, headers: [], body: Secret(#"{"error":"invalid_grant","error_description":"no hunter2-hunter"}"#))
        answer.secrets = [Secret("hunter2-hunter")]
        #expect(answer.failure(of: "it").message == "the server refused it: invalid_grant (no ...)")
    }

    @Test(arguments: [
        "p%2F+w: x&é", "p%252F%2Bw%3A%20x%26%C3%A9", "p%252F%2bw%3a+x%26%c3%a9", "p%252F+w: x%26é", "%70%25%32F%2Bw:%20x&%C3%A9",
    ])
    func `A secret isn't shown, however its bytes are encoded`(_ echo: String) {
        let secret = Secret("p%2F+w: x&é")
        #expect(ServerText.shown("no (\(echo)) here", without: [secret]) == "no (...) here")
        #expect(ServerText.shown(echo, without: [Secret("p%2F"), secret]) == "...")
        // At the end of what is read.
        let padding = String(repeating: " ", count: 1980)
        for cut in 1...20 {
            let shown = ServerText.shown(padding + String(repeating: " ", count: cut) + echo + " and more", without: [secret])
            #expect(!shown.contains("p") && !shown.contains("2F"), "\(cut): \(shown)")
        }
    }

    @Test func `What only resembles a secret is shown`() {
        let secret = Secret("abc d")
        for text in ["abc%2", "abc%2xd", "abc e", "abc%20", "xabc", "abc-d"] {
            #expect(ServerText.shown(text, without: [secret]) == text)
        }
        #expect(ServerText.shown("abc", without: [Secret("abc")]) == "abc")
        #expect(ServerText.shown("aaaaaa", without: [Secret("aaaa")]) == "...")
    }

    @Test func `Words of a server are printable ASCII and bounded`() {
        #expect(ServerText.shown("a\u{1b}[31m\u{202e}b\r\n\tc") == "a [31m b c")
        #expect(ServerText.shown("") == "")
        #expect(ServerText.shown("\u{0}\u{7f}ü") == "")
        let plain = "expired at 2026-01-01, see https://a.example/help"
        #expect(ServerText.shown(plain) == plain)
        #expect(ServerText.shown("token 0123456789abcdef is bad") == "token ... is bad")
        #expect(ServerText.shown("unsupported_grant_type_for_this_client") == "unsupported_grant_type_for_this_client")
        #expect(ServerText.shown(String(repeating: "ab ", count: 5000)).utf8.count == ServerText.limit + 3)
        // The beginning of a secret at the cut.
        let secret = String(repeating: "s", count: 100)
        let padding = String(repeating: " ", count: 1990)
        #expect(ServerText.shown(padding + secret, without: [Secret(secret)]) == "")
    }

    @Test(
        arguments: [
            ("120", 120), ("0", 0), ("99999999999999999999", 1_000_000_000), ("", nil), ("-1", nil), ("1.5", nil), ("soon", nil),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:49:36 GMT", 0), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
        ] as [(String, Int64?)])
    func `Retry-After`(_ text: String, _ seconds: Int64?) {
        #expect(RetryAfter.seconds([("retry-after", text)], at: 784_111_777) == seconds)
        // Its own clock counts.
        let headers: [(name: String, value: String)] = [("Date", "Sun, 06 Nov 1994 08:49:37 GMT"), ("Retry-After", text)]
        #expect(RetryAfter.seconds(headers, at: 0) == seconds)
    }

    @Test func `A date in Retry-After needs a clock`() {
        #expect(RetryAfter.seconds([("Retry-After", "Sun, 06 Nov 1994 08:49:37 GMT")], at: nil) == nil)
    }
}
