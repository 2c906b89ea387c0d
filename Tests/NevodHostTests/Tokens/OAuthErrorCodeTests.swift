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
        #expect(OAuthErrorCode(inBody: Array(body.utf8))?.rawValue == code)
    }

    @Test func `A body that is no UTF-8 has no error code`() {
        #expect(OAuthErrorCode(inBody: Array(#"{"error":""#.utf8) + [0xFF] + Array(#""}"#.utf8)) == nil)
    }
}
