import Testing

@testable import NevodHost

struct OAuthErrorCodeTests {
    @Test(
        arguments: [
            (#"{"error":"invalid\u005fgrant"}"#, "invalid_grant"), (#"{"\u0065rror":"invalid_grant"}"#, "invalid_grant"),
            (#"{"error":"invalid_grant","error":"server_error"}"#, nil),
            (#"{"error":"invalid_grant","\u0065rror":"invalid_grant"}"#, nil),
            (#"{"error":"invalid_grant""#, nil), (#"{"error":"invalid_grant"} trailing"#, nil),
            (#"{"error":"\ud800"}"#, nil), (String(repeating: "[", count: 100_000), nil),
        ] as [(String, String?)])
    func `A token endpoint's error code is read from unambiguous JSON alone`(body: String, code: String?) {
        #expect(OAuthErrorCode.read(from: Array(body.utf8)).code == code)
    }

    @Test func `A byte order mark and Latin-1 in a description don't hide the code`() {
        let body = Array(#"{"error":"invalid_client","error_description":"caf"#.utf8) + [0xE9] + Array(#""}"#.utf8)
        #expect(OAuthErrorCode.read(from: body).code == "invalid_client")
        #expect(OAuthErrorCode.read(from: [0xEF, 0xBB, 0xBF] + body).code == "invalid_client")
        #expect(OAuthErrorCode.read(from: [0xEF, 0xBB, 0xBF] + Array("error=invalid_grant".utf8)).code == "invalid_grant")
    }

    @Test func `Faulty JSON is not mistaken for a body without a code`() {
        #expect(OAuthErrorCode.read(from: Array(#"{"error":"invalid_grant","error":"x"}"#.utf8)) == .unreadable)
        #expect(OAuthErrorCode.read(from: Array(#"{"error":"invalid_client""#.utf8)) == .unreadable)
        #expect(OAuthErrorCode.read(from: Array(#"{"message":"no"}"#.utf8)) == .none)
        #expect(OAuthErrorCode.read(from: []) == .none)
    }
}

extension OAuthErrorCode.Reading {
    /// The code's text; nil if there is none.
    var code: String? {
        if case .code(let code) = self { code.rawValue } else { nil }
    }
}
