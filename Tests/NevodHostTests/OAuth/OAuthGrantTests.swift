import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// The grants at other projects' authorization servers: Authlib's, and for revocation django-oauth-toolkit's.
struct OAuthGrantTests {
    private let provider = NetworkProvider(session: CurlSession())

    private func get(_ url: String, _ token: OAuthToken? = nil) async throws -> (status: Int, location: String?, body: String) {
        var request = try HTTPRequest(.get, url)
        try token?.authorize(&request)
        let response = try await provider.send(request, RequestOptions(redirects: .none))
        return (response.status, response.headers["Location"], String(decoding: try await response.body.collect(), as: UTF8.self))
    }

    @Test func `A login with a code, its renewal, and its revocation`() async throws {
        let server = try await ProbeServer.start("grants")
        let client = try OAuthClient(issuer: server.url, clientID: "app", scopes: ["profile", "orders"])
        let login = OAuthLogin(redirectURI: "com.example.app:/login")
        let redirect = try await get(client.authorizationURL(for: login, parameters: ["prompt": "login & consent"])).location
        let address = try #require(redirect)
        let token = try await client.exchange(redirect: address, for: login)
        #expect(token.scope == "profile orders")
        #expect(try await get("\(server.url)/me", token).body == "ada")

        // A code works only once, and never without the verifier.
        let again = await #expect(throws: OAuthError.self) { try await client.exchange(redirect: address, for: login) }
        #expect(again?.serverCode == .invalidGrant)
        let another = try await get(client.authorizationURL(for: login)).location
        let stolen = try #require(another)
        let thief = OAuthLogin(redirectURI: login.redirectURI, state: login.state)
        let refused = await #expect(throws: OAuthError.self) { try await client.exchange(redirect: stolen, for: thief) }
        #expect(refused?.serverCode == .invalidGrant)

        let renewed = try await client.refresh(token)
        #expect(renewed.refreshToken != token.refreshToken)
        #expect(try await get("\(server.url)/me", renewed).status == 200)
        try await client.revoke(renewed)
        #expect(try await get("\(server.url)/me", renewed).status == 401)
        let ended = await #expect(throws: OAuthError.self) { try await client.refresh(renewed) }
        #expect(ended?.endsSession == true)
        let log = try await get("\(server.url)/control/log").body.split(separator: "\n").map(String.init)
        #expect(
            log == [
                "metadata", "authorize profile orders", "token authorization_code", "token authorization_code",
                "authorize profile orders", "token authorization_code", "token refresh_token", "revoke refresh_token",
                "revoke access_token", "token refresh_token",
            ])
    }

    @Test(arguments: [false, true])
    func `A client's own token, with a secret sent in either way`(inForm: Bool) async throws {
        let server = try await ProbeServer.start("grants")
        let secret = Secret("s3cret-of-the-shop")
        let client = try OAuthClient(
            issuer: server.url, clientID: "shop", authentication: inForm ? .post(secret) : .basic(secret), scopes: ["orders"])
        let token = try await client.clientCredentials()
        #expect(try await get("\(server.url)/me", token).status == 200)
        #expect(token.scope == "orders")
        let wrong = try OAuthClient(
            issuer: server.url, clientID: "shop", authentication: inForm ? .post(Secret("wrong")) : .basic(Secret("wrong")))
        let error = await #expect(throws: OAuthError.self) { try await wrong.clientCredentials() }
        #expect(error?.serverCode == .invalidClient)
        #expect(error?.endsSession == false)

        // As a strategy: the token is replaced, not renewed.
        let storage = TokenStorage<OAuthToken>(storage: InMemoryStorage())
        let api = NetworkProvider(
            session: CurlSession(),
            interceptor: AuthenticationInterceptor(
                tokenStorage: storage, refreshStrategy: { _ in try await client.clientCredentials() }))
        #expect(try await api.send(HTTPRequest(.get, "\(server.url)/me")).status == 200)
        _ = try await get("\(server.url)/control/expire")
        #expect(try await api.send(HTTPRequest(.get, "\(server.url)/me")).status == 200)
    }

    @Test func `A device gets its token once the user has said yes`() async throws {
        let server = try await ProbeServer.start("grants")
        let client = try OAuthClient(issuer: server.url, clientID: "app", scopes: ["orders"])
        let device = try await client.deviceAuthorization()
        #expect(device.verificationURI == "\(server.url)/device")
        #expect(device.verificationURIComplete == "\(server.url)/device?user_code=\(device.userCode)")
        #expect(device.interval == .seconds(5))
        let clock = ManualClock()
        let token = Task { try await client.token(for: device, clock: clock) }
        for polls in 0...2 {
            #expect(await eventually { clock.sleepers == 1 })
            let log = try await get("\(server.url)/control/log").body
            #expect(log.split(separator: "\n").filter { $0 == "token device_code" }.count == polls)
            if polls == 2 { _ = try await get("\(server.url)/control/enter/\(device.userCode)/yes") }
            clock.advance(by: .seconds(5))
        }
        let issued = try await token.value
        #expect(try await get("\(server.url)/me", issued).body == "ada")
        #expect(issued.scope == "orders")
    }

    @Test func `A device learns that the user has said no, or nothing`() async throws {
        let server = try await ProbeServer.start("grants")
        let client = try OAuthClient(issuer: server.url, clientID: "app")
        let clock = ManualClock()
        let device = try await client.deviceAuthorization()
        _ = try await get("\(server.url)/control/enter/\(device.userCode)/no")
        let denied = Task { try await client.token(for: device, clock: clock) }
        #expect(await eventually { clock.sleepers == 1 })
        clock.advance(by: .seconds(5))
        let no = await #expect(throws: OAuthError.self) { try await denied.value }
        #expect(no?.serverCode == .accessDenied)

        let silent = try await client.deviceAuthorization()
        let expired = Task { try await client.token(for: silent, clock: clock) }
        #expect(await eventually { clock.sleepers == 1 })
        clock.advance(by: silent.lifetime)
        let error = await #expect(throws: OAuthError.self) { try await expired.value }
        #expect(error?.serverCode == .expiredToken)
        #expect(error?.code == .refused)
    }

    @Test func `A wait for a device can be cancelled`() async throws {
        let server = try await ProbeServer.start("grants")
        let client = try OAuthClient(issuer: server.url, clientID: "app")
        let device = try await client.deviceAuthorization()
        let clock = ManualClock()
        let waiting = Task { try await client.token(for: device, clock: clock) }
        #expect(await eventually { clock.sleepers == 1 })
        waiting.cancel()
        let error = await #expect(throws: OAuthError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `django-oauth-toolkit decodes a client's name and secret, renews, and revokes`() async throws {
        let folder = try TemporaryFolder()
        let server = try await ProbeServer.start("toolkit", [folder.path])
        let client = try OAuthClient(
            server: OAuthServer(tokenEndpoint: "\(server.url)/o/token/", revocationEndpoint: "\(server.url)/o/revoke_token/"),
            clientID: "shop: a & b", authentication: .basic(Secret("s3cret+/=é%41")))
        let token = try await client.refresh(OAuthToken(accessToken: "access", refreshToken: "refresh"))
        #expect(token.scope == "orders:read")
        try await client.revoke(token)
        let error = await #expect(throws: OAuthError.self) { try await client.refresh(token) }
        #expect(error?.endsSession == true)
        #expect(error?.serverCode == .invalidGrant)
    }
}
