import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// A server may repeat what it received, in the same form or another.
struct OAuthErrorSecretsTests {
    private static let secret = "s3cr+t/of thé&cliènt"
    private static let encoded = "s3cr%2Bt%2Fof%20th%C3%A9%26cli%C3%A8nt"

    private static func base64(_ text: String, _ alphabet: Base64.Alphabet = .standard) -> String {
        Base64.encoded(Array(text.utf8), alphabet)
    }

    private func failure(_ body: String, _ authentication: OAuthClient.Authentication) async throws -> OAuthError? {
        let server = try ScriptedServer { _ in ScriptedServer.Response(status: 400, body: body) }
        let client = try OAuthClient(
            server: OAuthServer(tokenEndpoint: "\(server.url)/token"), clientID: "shop: a", authentication: authentication)
        return await #expect(throws: OAuthError.self) {
            try await client.refresh(OAuthToken(accessToken: "a", refreshToken: "refresh-s3cret"))
        }
    }

    @Test(arguments: [
        secret, encoded, encoded.lowercased(), encoded.replacing("%20", with: "+"), encoded.replacing("%", with: "%25"),
        "Basic \(base64("shop%3A%20a:\(encoded)"))", base64(secret), base64(secret, .url),
        "authorization%3DBasic%20\(base64("shop%3A%20a:\(encoded)").replacing("=", with: "%3D"))",
        "s3cr+t/of th\u{FFFD}&cli\u{FFFD}nt", "s3cr+t/of\\n th\\té&cliènt", String(repeating: "é", count: 60) + secret,
    ])
    func `A description that repeats a secret in any form is not shown`(words: String) async throws {
        for authentication in [OAuthClient.Authentication.basic(Secret(Self.secret)), .post(Secret(Self.secret))] {
            let error = try await failure(#"{"error":"invalid_client","error_description":"no \#(words)"}"#, authentication)
            #expect(error?.serverCode == .invalidClient)
            // The beginning of the secret, and of its forms in base64.
            for part in ["s3cr", "czNj", "c2hv"] { #expect(error?.description.contains(part) == false) }
        }
    }

    @Test(arguments: [
        "refresh-s3cret", "no refresh-s3cret", "refresh%2Ds3cret", String(base64("shop%3A%20a:\(encoded)").prefix(64)),
        "cmVmcmVzaC1zM2NyZXQ=",
    ])
    func `A secret in the place of the code is not shown, and ends no session`(code: String) async throws {
        let error = try await failure(#"{"error":"\#(code)"}"#, .basic(Secret(Self.secret)))
        #expect(error?.serverCode == nil)
        #expect(error?.isTransient == true)
        var text = "\(String(describing: error)) \(String(reflecting: error))"
        dump(error, to: &text)
        #expect(!text.contains(code.suffix(10)))
    }

    @Test func `Other words and codes are shown`() async throws {
        let words = "the client of th\u{E9} shop is gone (c2hvcA==, 100%)"
        let error = try await failure(
            #"{"error":"shop_closed","error_description":"\#(words)"}"#, .basic(Secret(Self.secret)))
        #expect(error?.serverCode?.rawValue == "shop_closed")
        #expect(error?.description.contains("shop_closed (the client of th shop is gone (c2hvcA==, 100%))") == true)
    }

    @Test func `The address of a page for a device's code shows no secret`() async throws {
        let server = try ScriptedServer { _ in
            .json(#"{"device_code":"device-s3cret","user_code":"AB","verification_uri":"http://h.example/?c=device-s3cret"}"#)
        }
        let client = try OAuthClient(
            server: OAuthServer(tokenEndpoint: "\(server.url)/t", deviceAuthorizationEndpoint: "\(server.url)/d"), clientID: "app"
        )
        let error = await #expect(throws: OAuthError.self) { try await client.deviceAuthorization() }
        #expect(error?.description.contains("verification_uri, an https address") == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test func `A redirect shows no secret of its login`() throws {
        let login = OAuthLogin(redirectURI: "app:/login")
        let server = try OAuthServer(tokenEndpoint: "https://login.example.com/token")
        for (code, words) in [
            (login.verifier.text, ""), (Self.base64(login.state), ""), ("invalid_request", Self.base64(login.verifier.text)),
        ] {
            let error = #expect(throws: OAuthError.self) {
                try OAuthRedirect(
                    "app:/login?state=\(login.state)&error=\(code)&error_description=\(words)", for: login, at: server)
            }
            #expect(error?.description.contains(code.suffix(12)) == (code == "invalid_request"))
            #expect(words.isEmpty || error?.description.contains(words) == false)
        }
    }
}
