import NevodJWT
import NevodOAuth
import NevodPluginKit
import NevodSupport

@testable import NevodHost
@testable import OAuth2Auth

extension Fuzzer {
    /// A byte for the status and then a token endpoint's response, and the same bytes as the query of a redirect.
    static let oauth = Fuzzer("oauth") { input in
        guard let server = try? OAuthServer(tokenEndpoint: "https://h/token", issuer: "https://h", namesIssuer: false),
            let origin = try? Origin("https://h")
        else { return expect(false, "the server of this fuzzer is valid") }
        let secret = "s3cret-of-the-client"
        var input = input
        let status = 100 + Int(input.byte()) * 2
        let head = HTTPResponse(version: .http11, status: status, reason: "", headers: HTTPHeaders(), body: .bytes([]))
        let response = OAuthResponse(head, input.array, from: origin, to: "the token", hiding: [Secret(secret)])
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
        _ = try? AccessToken(token)
    }

    /// The first byte says what the rest is: metadata of an authorization server, metadata of an API, a challenge or a URL.
    static let oauthMetadata = Fuzzer("oauth-metadata") { input in
        var input = input
        switch input.byte() % 4 {
        case 0: checkServerMetadata(input.array)
        case 1: checkResourceMetadata(input.array)
        case 2: checkBearerChallenge(input.lines)
        default: checkAddress(input.text)
        }
    }

    private static func checkServerMetadata(_ body: [UInt8]) {
        let issuer = "https://id.example/a"
        guard let metadata = try? ServerMetadata(body.span, of: issuer) else { return }
        let text = body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body[3...]) : body
        let second = try? JSONValue(parsing: text.span, repeatedNames: .refused)
        expect(second?["issuer"]?.string == issuer, "another reader finds the same issuer")
        for endpoint in ServerMetadata.Endpoint.allCases {
            guard case .valid(let url) = metadata[endpoint] else { continue }
            expect(second?[endpoint.rawValue]?.string == url, "another reader finds the same endpoint")
            expect(url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "an endpoint fits in a line of a stored token")
            // A server name that the host's reader rejects gets no request.
            if let origin = try? Origin(ofURL: url) { expect(origin.scheme == .https, "an endpoint is reached by TLS") }
        }
        for name in ["token_endpoint_auth_methods_supported", "dpop_signing_alg_values_supported"] {
            let words = metadata.words(name)
            expect(words.count <= 64, "words are bounded")
            expect(words.allSatisfy { $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } }, "words fit in a line of a stored token")
        }
    }

    private static func checkResourceMetadata(_ body: [UInt8]) {
        guard let metadata = try? ProtectedResource(body.span) else { return }
        for text in [ProtectedResource.list(metadata.issuers), ServerWords.quoted(metadata.identifier)] {
            expect(
                text.utf8.allSatisfy { (0x20..<0x7F).contains($0) } && text.utf8.count < 2000, "a server's text is safe to show")
        }
    }

    private static func checkBearerChallenge(_ lines: [String]) {
        guard let challenge = BearerChallenge(lines) else { return }
        if let values = challenge.acrValues {
            expect(
                values.utf8.count <= 1024 && values.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "acr_values are a parameter")
        }
        if let age = challenge.maxAge { expect(age >= 0, "an age isn't negative") }
    }

    private static func checkAddress(_ text: String) {
        guard let address = WebAddress(text) else { return }
        expect(address.isSameOrigin(as: address), "an address is of its own origin")
        expect("\(address.root)\(address.path)".utf8.count <= text.utf8.count, "the parts of an address are in it")
        let origin = try? Origin(ofURL: text)
        if address.isLoopback { expect(origin?.isLoopback == true, "a server on this machine is one for the host, too") }
        // Not the other way round: the host reads `127.1` as an address of this machine, and the plugin rejects it.
        if let origin, let other = WebAddress("\(origin)"), !text.utf8.contains(UInt8(ascii: "%")) {
            expect(!address.isAuthentic || other.isAuthentic, "the host reaches the address as securely")
        }
        for url in OAuth2Auth.metadataURLs(of: text) { expect(WebAddress(url) != nil, "the place of metadata is an address") }
    }

    /// A token endpoint's response and its ID token.
    static let oauthResponse = Fuzzer("oauth-response") { input in
        guard let json = try? JSONValue(parsing: input.array.span) else { return }
        guard let token = try? StoredToken(json, at: 1_700_000_000, issuer: "https://id.example") else { return }
        expect(TokenResponse.isToken(String(revealing: token.accessToken)), "an access token fits in a header")
        if let expiry = token.expiresAt {
            expect((1_700_000_000...2_700_000_000).contains(expiry), "an expiry is within its bounds")
        }
        let encoded = token.encoded
        let again = encoded.withUnsafeBytes { try? StoredToken(decoding: Span(_unsafeBytes: $0)) }
        expect(
            again?.accessToken == token.accessToken && again?.refreshToken == token.refreshToken,
            "a token is read as it was stored")
        expect(again?.encoded == encoded, "a token is stored as it was read")
        guard let idToken = token.idToken else { return }
        let rules = IDTokenRules(issuer: "https://id.example", clientID: "app")
        let keys = [#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#]
            .compactMap { try? JSONWebKey(json: Array($0.utf8)) }
        let person = try? rules.person(in: idToken, with: keys, beside: token.accessToken, at: 1_700_000_000)
        expect(person == nil, "nobody is named by an ID token that the issuer hasn't signed")
        _ = try? rules.checkSame("4711", in: idToken)
    }
}
