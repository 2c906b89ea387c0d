import NevodOAuth
import NevodSupport
import Testing

func response(
    _ status: Int, _ body: some Sequence<UInt8>, hasChallenge: Bool = false, isFromProxy: Bool = false
) -> EndpointResponse {
    Array(body).withUnsafeBytes {
        EndpointResponse(status: status, body: $0, hasChallenge: hasChallenge, isFromProxy: isFromProxy)
    }
}

/// The only classification of a server's responses: a session ends only if the server refuses the grant.
struct EndpointResponseTests {
    struct Case: CustomTestStringConvertible {
        var status = 400
        var hasChallenge = false
        let body: String
        var isFromProxy = false
        let meaning: OAuthErrorMeaning
        var testDescription: String { "\(status) \(body)" }
    }

    @Test(arguments: [
        // RFC 6749 §5.2
        Case(body: #"{"error":"invalid_grant"}"#, meaning: .refusal),
        Case(body: #"{"error":"invalid_client"}"#, meaning: .client),
        Case(body: #"{"error":"unauthorized_client"}"#, meaning: .client),
        Case(body: #"{"error":"unsupported_grant_type"}"#, meaning: .grantType),
        Case(body: #"{"error":"invalid_scope"}"#, meaning: .scope),
        Case(body: #"{"error":"invalid_request"}"#, meaning: .unknown),
        // RFC 8707, 8628, 9449
        Case(body: #"{"error":"invalid_target"}"#, meaning: .target),
        Case(body: #"{"error":"expired_token"}"#, meaning: .refusal),
        Case(body: #"{"error":"slow_down"}"#, meaning: .outage),
        Case(body: #"{"error":"authorization_pending"}"#, meaning: .unfinished),
        Case(body: #"{"error":"use_dpop_nonce"}"#, meaning: .unfinished),
        // Auth0's response for a wrong client secret.
        Case(status: 401, body: #"{"error":"access_denied","error_description":"Unauthorized"}"#, meaning: .client),
        Case(status: 403, body: #"{"error":"access_denied"}"#, meaning: .refusal),
        // Status
        Case(status: 500, body: #"{"error":"invalid_grant"}"#, meaning: .outage),
        Case(status: 408, body: #"{"error":"invalid_grant"}"#, meaning: .outage),
        Case(status: 425, body: "", meaning: .outage), Case(status: 429, body: #"{"error":"invalid_grant"}"#, meaning: .outage),
        Case(status: 401, body: #"{"error":"invalid_grant"}"#, isFromProxy: true, meaning: .outage),
        Case(status: 401, hasChallenge: true, body: "", meaning: .client),
        Case(status: 401, body: "", meaning: .refusal), Case(status: 400, body: "", meaning: .refusal),
        // A firewall's response.
        Case(status: 403, body: "", meaning: .otherFormat), Case(status: 404, body: "", meaning: .otherFormat),
        Case(status: 401, body: " ", meaning: .otherFormat), Case(status: 200, body: "", meaning: .otherFormat),
        // Other forms
        Case(body: "error=invalid_grant", meaning: .refusal), Case(body: "error=invalid%5Fgrant&x", meaning: .refusal),
        Case(body: "\u{FEFF}error=invalid_grant", meaning: .refusal),
        Case(body: "<a href=\"?a&error=invalid_grant&b\">", meaning: .otherFormat),
        Case(body: "\u{FEFF}\n <p>&error=access_denied&c", meaning: .otherFormat),
        Case(body: #"["&error=invalid_grant&"]"#, meaning: .otherFormat),
        Case(body: #""&error=invalid_grant&""#, meaning: .otherFormat),
        Case(body: #"{"x":"&error=invalid_grant&""#, meaning: .otherFormat),
        Case(body: #"{"error":{"code":400,"status":"UNAVAILABLE"}}"#, meaning: .unknown),
        Case(body: #"{"error":{"type":"invalid_grant"}}"#, meaning: .refusal),
        Case(body: #"{"error":{"code":400}}"#, meaning: .unknown),
        Case(body: #"{"error":"invalid_grant","error":"server_error"}"#, meaning: .otherFormat),
        Case(body: "error=invalid_grant&error=server_error", meaning: .otherFormat),
        Case(body: #"{"error":"invalid\u005fgrant"}"#, meaning: .refusal),
        Case(body: #"{"error":"INVALID_GRANT"}"#, meaning: .unknown),
        Case(body: #"{"error":"invalid_grant\u0301"}"#, meaning: .unknown),
        Case(status: 200, body: #"{"ok":false}"#, meaning: .unknown),
        Case(status: 200, body: #"{"ok":false,"error":"invalid_refresh_token"}"#, meaning: .refusal),
        Case(status: 200, body: #"{"error":"bad_refresh_token"}"#, meaning: .refusal),
        Case(status: 200, body: #"{"error":"incorrect_client_credentials"}"#, meaning: .client),
    ])
    func `Only a refusal of the grant means that a session has ended`(_ example: Case) {
        let response = response(
            example.status, example.body.utf8, hasChallenge: example.hasChallenge, isFromProxy: example.isFromProxy)
        #expect(response.meaning == example.meaning)
        #expect(!response.isSuccess || response.body.json == nil)
    }

    @Test(arguments: [
        #"{"access_token":"a"}"#, #"{"ok":true,"error":""}"#, #"{"error":null}"#, "access_token=a&scope=", "device_code=a",
        "\u{FEFF}{\"access_token\":\"a\"}",
    ])
    func `A result has no error`(_ body: String) {
        let response = response(200, body.utf8)
        #expect(response.isSuccess && response.body.json != nil)
        #expect(response.body.error == nil)
    }

    @Test func `A form's fields are read as members`() {
        let json = response(200, "access_token=a%2Bb+c&scope=x%20y&empty".utf8).body.json
        let members: JSONValue = ["access_token": "a+b c", "scope": "x y", "empty": ""]
        #expect(json == members)
    }

    @Test func `A form's items are split before they are decoded`() {
        let items = FormItem.items(of: "a=1%262&b%3D=+&c&=d&&a=%zz".utf8).map {
            "\(String(decoding: $0.name, as: UTF8.self)):\(String(decoding: $0.value, as: UTF8.self))"
        }
        #expect(items == ["a:1&2", "b=: ", "c:", ":d", "a:%zz"])
    }

    @Test func `Latin-1 in a description doesn't hide the code`() {
        let body = Array(#"{"error":"invalid_client","error_description":"caf"#.utf8) + [0xE9] + Array(#""}"#.utf8)
        #expect(response(400, body).body.error == "invalid_client")
        #expect(response(400, body).body.errorDescription == "caf\u{FFFD}")
        #expect(response(400, [0xEF, 0xBB, 0xBF] + body).body.error == "invalid_client")
    }

    @Test(
        arguments: [
            (#"{"error":"a","error_description":"words"}"#, "words"), (#"{"error":{"status":"A","message":"words"}}"#, "words"),
            (#"{"error":"a"}"#, nil), ("error=a&error_description=two+words", "two words"),
        ] as [(String, String?)])
    func `A server's words are found in each format`(body: String, words: String?) {
        #expect(response(400, body.utf8).body.errorDescription == words)
    }

    @Test(arguments: [
        ("", EndpointBody.empty), (" ", .other), ("<html>", .other), ("[]", .other), ("a=b", .other), ("Unauthorized", .other),
        ("{", .unreadable), (#"{"a":1,"a":2}"#, .unreadable), ("error=a&x=1&x=2", .unreadable), ("x=1&x=2", .other),
        ("{}", .object([:])),
    ])
    func `A body that repeats a name is ambiguous`(text: String, body: EndpointBody) {
        #expect(response(200, text.utf8).body == body)
    }
}
