import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct OAuthClientTests {
    /// A server whose endpoints all give the same response.
    private func server(_ response: ScriptedServer.Response) throws -> (ScriptedServer, OAuthServer) {
        let server = try ScriptedServer { _ in response }
        let endpoints = try OAuthServer(
            tokenEndpoint: "\(server.url)/token", authorizationEndpoint: "\(server.url)/authorize?tenant=1",
            deviceAuthorizationEndpoint: "\(server.url)/device", revocationEndpoint: "\(server.url)/revoke")
        return (server, endpoints)
    }

    private func form(_ request: ScriptedServer.Request?) -> [String] {
        String(decoding: request?.body ?? [], as: UTF8.self).split(separator: "&").map(String.init)
    }

    private static let success = ScriptedServer.Response.json(#"{"access_token":"a","token_type":"bearer"}"#)

    @Test func `Each grant sends its fields, and nothing else`() async throws {
        let (server, endpoints) = try server(Self.success)
        let client = try OAuthClient(
            server: endpoints, clientID: "app & co", scopes: ["orders", "profile"], tokenParameters: ["audience": "https://api"])
        let verifier = PKCEVerifier()
        _ = try await client.refresh(OAuthToken(accessToken: "a", refreshToken: "r=1"))
        _ = try await client.clientCredentials()
        _ = try await client.exchange(code: "c", verifier: verifier, redirectURI: "app:/login")
        _ = try await client.token(grant: "urn:g", parameters: ["assertion": "x"], scopes: [])
        try await client.revoke(OAuthToken(accessToken: "a", refreshToken: "r"))
        let tail = ["audience=https%3A%2F%2Fapi", "client_id=app+%26+co"]
        #expect(
            server.requests.map(form) == [
                ["grant_type=refresh_token", "refresh_token=r%3D1"] + tail,
                ["grant_type=client_credentials", "scope=orders+profile"] + tail,
                [
                    "grant_type=authorization_code", "code=c", "redirect_uri=app%3A%2Flogin", "code_verifier=\(verifier.text)",
                ].map { $0.replacing("~", with: "%7E") } + tail,
                ["grant_type=urn%3Ag", "assertion=x"] + tail,
                ["token=r", "token_type_hint=refresh_token", "client_id=app+%26+co"],
                ["token=a", "token_type_hint=access_token", "client_id=app+%26+co"],
            ])
        #expect(server.requests.allSatisfy { $0["Content-Type"] == "application/x-www-form-urlencoded" })
        #expect(server.requests.allSatisfy { $0["Accept"] == "application/json" && $0["Authorization"] == nil })
    }

    @Test func `A client shows its secret in the way that it is told to`() async throws {
        let (server, endpoints) = try server(Self.success)
        let secret = Secret("s3cret+/=é%41")
        _ = try await OAuthClient(server: endpoints, clientID: "shop: a", authentication: .basic(secret)).clientCredentials()
        _ = try await OAuthClient(server: endpoints, clientID: "shop: a", authentication: .post(secret)).clientCredentials()
        let line = try #require(server.requests.first?["Authorization"])
        let pair = try #require(Base64.decoded(Array(line.utf8.dropFirst(6)), .strict))
        #expect(String(decoding: pair, as: UTF8.self) == "shop%3A%20a:s3cret%2B%2F%3D%C3%A9%2541")
        #expect(form(server.requests.first) == ["grant_type=client_credentials"])
        #expect(
            form(server.requests.last) == [
                "grant_type=client_credentials", "client_id=shop%3A+a", "client_secret=s3cret%2B%2F%3D%C3%A9%2541",
            ])
        #expect(server.requests.last?["Authorization"] == nil)
    }

    @Test(arguments: [
        (#"{"access_token":"a","expires_in":3600}"#, 3600), (#"{"access_token":"a","expires_in":"3600"}"#, 3600),
        (#"{"access_token":"a","expires_in":3600.0}"#, 3600), (#"{"access_token":"a","expires_in":0.5,"error":null}"#, 1),
        (#"{"access_token":"a","expires_in":9223372036854775807}"#, 1_000_000_000),
        ("access_token=a&expires_in=60&scope=x%20y", 60),
        ("\u{FEFF}{\"access_token\":\"a\",\"expires_in\":1}", 1),
    ])
    func `A lifetime is read in each form that servers send`(body: String, seconds: Int) async throws {
        let (server, endpoints) = try server(.json(body))
        let before = HostClock.system.now
        let token = try await OAuthClient(server: endpoints, clientID: "app").clientCredentials()
        let after = HostClock.system.now
        let expiry = try #require(token.expiresAt)
        #expect(expiry >= before + .seconds(seconds) && expiry <= after + .seconds(seconds))
        #expect(token.accessToken == "a")
        #expect(server.requests.count == 1)
    }

    @Test func `A token of another type is not used`() async throws {
        let (server, endpoints) = try server(.json(#"{"access_token":"a","token_type":"mac"}"#))
        let error = await #expect(throws: OAuthError.self) {
            try await OAuthClient(server: endpoints, clientID: "app").clientCredentials()
        }
        #expect(error?.code == .unsupportedToken)
        #expect(error?.endsSession == false)
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        "refresh-s3cret-refresh is bad", "bad: refresh-s3", "%72 refresh-s3cret-refresh", "s3cret-of-client",
        "\u{1B}[31mrefresh-s3cret-refresh",
    ])
    func `An error shows no secret that the server repeats`(words: String) async throws {
        let quoted = words.replacing("\u{1B}", with: "\\u001b")
        let (server, endpoints) = try server(
            ScriptedServer.Response(status: 400, body: #"{"error":"invalid_grant","error_description":"\#(quoted)"}"#))
        let client = try OAuthClient(server: endpoints, clientID: "app", authentication: .basic(Secret("s3cret-of-client")))
        let error = await #expect(throws: OAuthError.self) {
            try await client.refresh(OAuthToken(accessToken: "a", refreshToken: "refresh-s3cret-refresh"))
        }
        var text = "\(String(describing: error)) \(String(reflecting: error))"
        dump(error, to: &text)
        #expect(!text.contains("s3"))
        #expect(error?.serverCode == .invalidGrant)
        #expect(server.requests.count == 1)
    }

    @Test func `An error shows what the server says, and nothing that a terminal obeys`() async throws {
        let (server, endpoints) = try server(
            ScriptedServer.Response(status: 400, body: #"{"error":"invalid_scope","error_description":"no \u001b[2J scope ü"}"#))
        let error = await #expect(throws: OAuthError.self) {
            try await OAuthClient(server: endpoints, clientID: "app").clientCredentials()
        }
        #expect(
            error?.description
                == "\(server.url) refused the client's token: invalid_scope (no [2J scope); ask for other scopes")
    }

    @Test func `Redirects of token requests are not followed`() async throws {
        let other = try ScriptedServer { _ in Self.success }
        let (server, endpoints) = try server(ScriptedServer.Response(status: 307, headers: ["Location: \(other.url)/token"]))
        let error = await #expect(throws: OAuthError.self) {
            try await OAuthClient(server: endpoints, clientID: "app").clientCredentials()
        }
        #expect(error?.isTransient == true)
        #expect(error?.status == 307)
        #expect(server.requests.count == 1)
        #expect(other.requests.isEmpty)
    }

    @Test func `A provider's retries don't repeat a token request`() async throws {
        let (server, endpoints) = try server(ScriptedServer.Response(status: 503))
        let provider = NetworkProvider(
            config: NetworkConfig(
                environments: [Service.api: SimpleEnvironment(baseURL: server.url)],
                retryPolicy: RetryPolicy(maxAttempts: 5, baseDelay: .zero, retriesUnsafeMethods: true)))
        await #expect(throws: OAuthError.self) {
            try await OAuthClient(server: endpoints, clientID: "app", provider: provider).clientCredentials()
        }
        #expect(server.requests.count == 1)
    }

    @Test(arguments: [
        "http://login.example.com/token", "ftp://login.example.com/", "https://", "https://u:p@login.example.com/", "/token",
        "https://login.example.com/token#x", "http://127.0.0.1.example.com/token",
    ])
    func `An endpoint must be https, or on this machine`(url: String) throws {
        #expect(throws: OAuthError.self) { try OAuthServer(tokenEndpoint: url) }
        #expect(throws: OAuthError.self) { try OAuthServer(tokenEndpoint: "https://h/", revocationEndpoint: url) }
        #expect(throws: OAuthError.self) { try OAuthClient(issuer: url, clientID: "app") }
    }

    @Test func `A server that always names its issuer must have one`() {
        let error = #expect(throws: OAuthError.self) {
            try OAuthServer(tokenEndpoint: "https://login.example.com/token", namesIssuer: true)
        }
        #expect(error?.code == .invalidSetting)
    }

    @Test func `A client's settings are checked before anything is sent`() async throws {
        let server = try OAuthServer(tokenEndpoint: "https://login.example.com/token")
        #expect(throws: OAuthError.self) { try OAuthClient(server: server, clientID: "") }
        #expect(throws: OAuthError.self) { try OAuthClient(server: server, clientID: "a", authentication: .post(Secret(""))) }
        #expect(throws: OAuthError.self) { try OAuthClient(server: server, clientID: "a", scopes: ["a b"]) }
        #expect(throws: OAuthError.self) { try OAuthClient(server: server, clientID: "a", tokenParameters: ["grant_type": "x"]) }
        let client = try OAuthClient(server: server, clientID: "a")
        for error in [
            await #expect(throws: OAuthError.self) { try await client.revoke(OAuthToken(accessToken: "a")) },
            await #expect(throws: OAuthError.self) { try await client.deviceAuthorization() },
            await #expect(throws: OAuthError.self) { try await client.authorizationURL(for: OAuthLogin(redirectURI: "app:/")) },
        ] {
            #expect(error?.code == .invalidSetting)
        }
    }

    @Test func `A revocation that the server can't serve is no success`() async throws {
        let token = OAuthToken(accessToken: "a", refreshToken: "r")
        for (status, body, isTransient) in [
            (503, "", true), (400, #"{"error":"unsupported_token_type"}"#, false), (200, #"{"error":"invalid_client"}"#, false),
        ] {
            let (server, endpoints) = try server(ScriptedServer.Response(status: status, body: body))
            let error = await #expect(throws: OAuthError.self) {
                try await OAuthClient(server: endpoints, clientID: "app").revoke(token)
            }
            #expect(error?.isTransient == isTransient)
            // The access token is revoked even if the refresh token can't be.
            #expect(server.requests.map(form).map { $0[1] } == ["token_type_hint=refresh_token", "token_type_hint=access_token"])
        }
        // A server that revokes refresh tokens only, and doesn't know this one.
        let partial = try ScriptedServer { request in
            let isAccess = String(decoding: request.body, as: UTF8.self).contains("access_token")
            return ScriptedServer.Response(
                status: 400, body: #"{"error":"\#(isAccess ? "unsupported_token_type" : "invalid_token")"}"#)
        }
        let endpoints = try OAuthServer(tokenEndpoint: "\(partial.url)/token", revocationEndpoint: "\(partial.url)/revoke")
        try await OAuthClient(server: endpoints, clientID: "app").revoke(token)
        #expect(partial.requests.count == 2)
    }

    @Test func `A cancelled request says so`() async throws {
        let began = Latch()
        let silent = try RawServer { connection, _ in
            _ = connection.readRequest()
            began.set()
            _ = connection.waitForEnd()
        }
        let client = try OAuthClient(server: OAuthServer(tokenEndpoint: "\(silent.url)/token"), clientID: "app")
        let task = Task { try await client.clientCredentials() }
        await began.wait()
        task.cancel()
        let error = await #expect(throws: OAuthError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }
}
