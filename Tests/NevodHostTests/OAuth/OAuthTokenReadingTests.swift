internal import Foundation
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// A token endpoint's response, read by a client, and by a strategy that decodes it.
struct OAuthTokenReadingTests {
    private static let responses: [(String, OAuthToken, Int?)] = [
        (#"{"access_token":"a","refresh_token":"r 1"}"#, OAuthToken(accessToken: "a", refreshToken: "r 1"), nil),
        (#"{"access_token":"a","refresh_token":""}"#, OAuthToken(accessToken: "a"), nil),
        (#"{"access_token":"a","refresh_token":null,"scope":null,"expires_in":null}"#, OAuthToken(accessToken: "a"), nil),
        (
            #"{"access_token":"a","refresh_token":"r\n1é"}"#, OAuthToken(accessToken: "a", refreshToken: "r\n1é"), nil
        ),
        (#"{"access_token":"a","expires_in":3600}"#, OAuthToken(accessToken: "a"), 3600),
        (#"{"access_token":"a","expires_in":"3600"}"#, OAuthToken(accessToken: "a"), 3600),
        (#"{"access_token":"a","expires_in":3600.0}"#, OAuthToken(accessToken: "a"), 3600),
        (#"{"access_token":"a","expires_in":59.5}"#, OAuthToken(accessToken: "a"), 59),
        (#"{"access_token":"a","expires_in":1e30}"#, OAuthToken(accessToken: "a"), 1_000_000_000),
        (#"{"access_token":"a","expires_in":"soon"}"#, OAuthToken(accessToken: "a"), nil),
        (#"{"access_token":"a","expires_in":0}"#, OAuthToken(accessToken: "a"), nil),
        (#"{"access_token":"a","expires_in":-5}"#, OAuthToken(accessToken: "a"), nil),
        (#"{"access_token":"a","token_type":"bot","ok":true}"#, OAuthToken(accessToken: "a"), nil),
        (#"{"access_token":"a","scope":"x y"}"#, OAuthToken(accessToken: "a", scope: "x y"), nil),
        (#"{"access_token":"a","scope":["x","y"]}"#, OAuthToken(accessToken: "a", scope: "x y"), nil),
        (#"{"access_token":"a","scope":[1]}"#, OAuthToken(accessToken: "a"), nil),
        (#"{"access_token":"a","token_type":"BEARER"}"#, OAuthToken(accessToken: "a"), nil),
    ]

    @Test(arguments: responses.indices)
    func `A response is read alike by a client and by a decoder`(index: Int) async throws {
        let (body, expected, seconds) = Self.responses[index]
        let before = HostClock.system.now
        let tokens = [
            try JSONDecoder().decode(OAuthToken.self, from: Data(body.utf8)),
            try await client(of: body).clientCredentials(),
        ]
        let after = HostClock.system.now
        for token in tokens {
            #expect(token.accessToken == expected.accessToken)
            #expect(token.refreshToken == expected.refreshToken)
            #expect(token.scope == expected.scope)
            #expect((token.expiresAt == nil) == (seconds == nil))
            guard let expiry = token.expiresAt, let seconds else { continue }
            #expect(expiry >= before + .seconds(seconds) && expiry <= after + .seconds(seconds + 1))
        }
    }

    @Test(arguments: [
        #"{}"#, #"{"access_token":""}"#, #"{"access_token":1}"#, #"{"access_token":"a\nb"}"#,
        #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a","token_type":"DPoP"}"#,
    ])
    func `A response without a usable token is none for either`(body: String) async throws {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(OAuthToken.self, from: Data(body.utf8)) }
        let client = try client(of: body)
        await #expect(throws: OAuthError.self) { try await client.clientCredentials() }
    }

    @Test func `An empty refresh token doesn't replace the stored one`() async throws {
        let body = #"{"access_token":"b","refresh_token":""}"#
        let old = OAuthToken(accessToken: "a", refreshToken: "r")
        #expect(try await client(of: body).refresh(old).refreshToken == "r")
        let decoded = try JSONDecoder().decode(OAuthToken.self, from: Data(body.utf8))
        #expect(decoded.keepingRefreshToken(of: old).refreshToken == "r")
    }

    private func client(of body: String) throws -> OAuthClient {
        let server = try ScriptedServer { _ in .json(body) }
        return try OAuthClient(
            server: OAuthServer(tokenEndpoint: "\(server.url)/token"), clientID: "app",
            provider: NetworkProvider(session: CurlSession(), observer: { _ in withExtendedLifetime(server) {} }))
    }
}
