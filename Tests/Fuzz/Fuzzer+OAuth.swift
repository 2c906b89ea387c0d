import NevodSupport

@testable import OAuth2Auth

extension Fuzzer {
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
