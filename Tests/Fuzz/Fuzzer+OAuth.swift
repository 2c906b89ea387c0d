import NevodSupport

@testable import NevodHost
@testable import OAuth2Auth

extension Fuzzer {
    /// The response of a token endpoint, after a byte for its status; and the same bytes as the query of a redirect.
    static let oauth = Fuzzer("oauth") { input in
        guard let server = try? OAuthServer(tokenEndpoint: "https://h/token", issuer: "https://h", namesIssuer: false),
            let origin = try? Origin("https://h")
        else { return expect(false, "the server of this fuzzer is valid") }
        let secret = "s3cret-of-the-client"
        var input = input
        let status = 100 + Int(input.byte()) * 2
        let head = HTTPResponse(version: .http11, status: status, reason: "", headers: HTTPHeaders(), body: .bytes([]))
        let response = OAuthResponse(head, input.array, from: origin, to: "the token", hiding: [secret])
        do throws(OAuthError) {
            let token = try OAuthToken(response, sentAt: UnixTime(seconds: 0))
            expect((200...299).contains(status), "a token comes with a success")
            expect(isSendable(token), "a token can be put on a request")
        } catch {
            expect(status < 500 || error.isTransient, "a server that fails refuses nothing")
            expect(!error.endsSession || error.serverCode != nil, "only the server's word ends a session")
            check(error, hides: secret)
        }
        let login = OAuthLogin(redirectURI: "app:/login", state: "st", verifier: PKCEVerifier())
        do throws(OAuthError) {
            let redirect = try OAuthRedirect("app:/login?\(input.text)", for: login, at: server)
            expect(!redirect.code.isEmpty, "a code isn't empty")
        } catch {
            check(error, hides: login.verifier.text)
        }
    }

    private static func isSendable(_ token: OAuthToken) -> Bool {
        guard var request = try? HTTPRequest(.get, "https://h/") else { return false }
        return (try? token.authorize(&request)) != nil
    }

    private static func check(_ error: OAuthError, hides secret: String) {
        expect(!error.description.contains(secret), "an error hides the request's secrets")
        expect(!error.description.unicodeScalars.contains { $0.isUnsafeAtTerminal }, "an error can be shown at a terminal")
    }

    /// A stored token of OAuth2Auth.
    static let oauthToken = Fuzzer("oauth-token") { input in
        guard let token = try? StoredToken(decoding: input.array.span) else { return }
        let encoded = token.encoded
        let again = encoded.withUnsafeBytes { try? StoredToken(decoding: Span(_unsafeBytes: $0)) }
        expect(again != nil, "a token is read as it was written")
        expect(again?.encoded == encoded, "a token that was read stays as it is")
        expect(again?.accessToken == token.accessToken, "no member takes the access token's place")
        expect(again?.refreshToken == token.refreshToken, "no member takes the refresh token's place")
        _ = AccessToken(token)
    }
}
