import Testing

@testable import NevodHost

struct BuiltInTokenTests {
    private func sent(_ token: some TokenModel, _ url: String = "http://h/users?limit=10") async throws -> HTTPRequest {
        var exchange = Exchange(request: try HTTPRequest(.get, url), options: TransferOptions())
        try await token.authorize(&exchange)
        return exchange.request
    }

    @Test func `Each built-in token writes its header or query item`() async throws {
        #expect(try await sent(Token(value: "t")).headers["Authorization"] == "Bearer t")
        #expect(try await sent(OAuthToken(accessToken: "t")).headers["Authorization"] == "Bearer t")
        #expect(try await sent(APIKeyToken(apiKey: "k", headerName: "X-Key")).headers["X-Key"] == "k")
        #expect(try await sent(QueryAPIKeyToken(apiKey: "a b&ø")).target == "/users?limit=10&api_key=a%20b%26%C3%B8")
        #expect(try await sent(QueryAPIKeyToken(apiKey: "k", paramName: "key"), "http://h/").target == "/?key=k")
    }

    @Test func `Each built-in token survives its storage`() throws {
        let end = UnixTime(nanoseconds: 1_700_000_000_123_456_789)
        func check<T: TokenModel & Equatable>(_ token: T) throws where T.Encoded == [UInt8] {
            #expect(try T.decode(from: token.encode()) == token)
        }
        try check(Token(value: "täst &="))
        try check(APIKeyToken(apiKey: "a=b&c%", headerName: "X-ø"))
        try check(QueryAPIKeyToken(apiKey: "+ ", paramName: ""))
        try check(OAuthToken(accessToken: "a", refreshToken: "r&=", expiresAt: end, scope: "one two"))
        try check(OAuthToken(accessToken: "a"))
        let error = #expect(throws: UnreadableTokenError.self) { try OAuthToken.decode(from: Array("refresh_token=r".utf8)) }
        #expect(error?.missing == "access_token")
    }

    @Test func `The descriptions of the tokens show no secret`() {
        func text(_ value: some TokenModel & Redacted) -> String {
            var dumped = ""
            dump(value, to: &dumped)
            return "\(value) \(String(reflecting: value)) \(dumped)"
        }
        #expect(!text(Token(value: "s3cret")).contains("s3cret"))
        #expect(!text(APIKeyToken(apiKey: "s3cret")).contains("s3cret"))
        #expect(!text(QueryAPIKeyToken(apiKey: "s3cret")).contains("s3cret"))
        #expect(!text(OAuthToken(accessToken: "s3cret", refreshToken: "s3cret")).contains("s3cret"))
    }

    @Test func `A refresh token that the server doesn't rotate is kept`() {
        let old = OAuthToken(accessToken: "1", refreshToken: "r", scope: "s")
        #expect(OAuthToken(accessToken: "2").keepingRefreshToken(of: old).refreshToken == "r")
        #expect(OAuthToken(accessToken: "2", refreshToken: "r2").keepingRefreshToken(of: old).refreshToken == "r2")
    }

    @Test(
        arguments: [
            (#"{"error":"invalid_grant"}"#, "invalid_grant"),
            (#" {"error_description":"say \"error\": \"x\"", "error" : "invalid_grant"}"#, "invalid_grant"),
            (#"{"nested":{"error":"invalid_grant"},"error":"server_error"}"#, "server_error"),
            (#"{"a":["error"],"b":"error","error":"e"}"#, "e"),
            ("error=invalid_grant&error_description=x", "invalid_grant"),
            (#"{"error":{"code":"invalid_grant"}}"#, nil), (#"{"error"#, nil), (#"{"error":"x"#, nil), ("", nil), ("<html>", nil),
            (#" <a href="/login?a=1&error=invalid_grant&b=2">"#, nil),
            (#"["error","invalid_grant"]"#, nil), (#"{"x":"error"}"#, nil), (#"{"x\\":"error","y":"z"}"#, nil),
        ] as [(String, String?)])
    func `The error code of a token endpoint is read`(body: String, code: String?) {
        #expect(OAuthErrorCode.read(from: Array(body.utf8)).code == code)
    }
}
