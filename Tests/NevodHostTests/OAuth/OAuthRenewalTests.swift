import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// A stored token that an ``OAuthClient`` renews for many requests.
struct OAuthRenewalTests {
    private func stored(_ token: OAuthToken = OAuthTokenServer.first) async throws -> TokenStorage<OAuthToken> {
        let storage = TokenStorage<OAuthToken>(storage: InMemoryStorage())
        try await storage.save(token)
        return storage
    }

    /// Returns the outcomes of many concurrent requests: statuses, or the names of errors.
    private func send(_ count: Int, _ url: String, _ provider: NetworkProvider) async -> [String: Int] {
        await withTaskGroup(of: String.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do {
                        return "\(try await provider.send(HTTPRequest(.get, url)).status)"
                    } catch NetworkError.authenticationFailed(let error as OAuthError) {
                        return error.isTransient ? "later" : "\(error.code)"
                    } catch NetworkError.unauthorized {
                        return "unauthorized"
                    } catch {
                        return "\(error)"
                    }
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
    }

    /// The server is django-oauth-toolkit's, which ends the session if a refresh token is used twice.
    @Test func `100 requests across an expiry: one exchange, all succeed, and the family lives`() async throws {
        let folder = try TemporaryFolder()
        let server = try await ProbeServer.start("rotating", [folder.path])
        let control = NetworkProvider(session: CurlSession())
        func tell(_ what: String) async throws -> String {
            let response = try await control.send(HTTPRequest(.get, "\(server.url)/control/\(what)"))
            return String(decoding: try await response.body.collect(), as: UTF8.self)
        }
        _ = try await tell("login/ada")
        let client = try OAuthClient(server: OAuthServer(tokenEndpoint: "\(server.url)/token"), clientID: "fleet")
        let storage = try await stored(
            client.token(grant: "password", parameters: ["username": "ada", "password": "s3cret"]))
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: AuthenticationInterceptor(tokenStorage: storage, refreshStrategy: client.refresh))
        #expect(await send(1, "\(server.url)/api", provider) == ["200": 1])
        for round in 1...2 {
            _ = try await tell("expire")
            #expect(await send(100, "\(server.url)/api", provider) == ["200": 100])
            // Exchanges, the maximum for one user, reuses, and users with a valid family.
            #expect(try await tell("counts") == "\(round) \(round) 0 1")
        }
        #expect(try await storage.load()?.scope == "read write")
    }

    private static let html = "<!doctype html><title>Maintenance</title>"
    private static let large = "{\"x\":\"\(String(repeating: "x", count: 1 << 20))\"}"
    private static let transient: [OAuthTokenServer.Fault] = [
        .respond(503, html), .respond(503, #"{"error":"temporarily_unavailable"}"#), .respond(500, #"{"error":"invalid_grant"}"#),
        .respond(502, ""), .respond(429, ""), .respond(429, #"{"error":"invalid_grant"}"#),
        .respond(400, #"{"error":"temporarily_unavailable"}"#), .respond(400, #"{"error":"server_error"}"#),
        .respond(400, #"{"error":"slow_down"}"#), .respond(200, html), .respond(400, html), .respond(401, html),
        .respond(403, html), .respond(404, html), .respond(200, "{}"), .respond(200, ""),
        .respond(400, #"{"error":"invalid_grant","error":"invalid_grant"}"#), .respond(400, #"{"error":"invalid_grant""#),
        .respond(200, #"{"access_token":"a","access_token":"b"}"#), .respond(200, #"{"access_token":"no\nheader"}"#),
        .respond(200, "access_token=a&access_token=b"), .respond(400, "error=invalid_grant&error=invalid_grant"),
        .respond(302, "", ["Location: http://127.0.0.1:9/"]), .close, .cut, .respond(200, large),
        // A page's links look like a form.
        .respond(400, #"<a href="/login?a=1&error=invalid_grant&b=2">"#), .respond(403, "\u{FEFF}\n <p>&error=access_denied&c"),
        .respond(400, #"{"x":"&error=invalid_grant&""#),
        .respond(200, #"{"ok":false,"error":"ratelimited"}"#), .respond(400, #"{"error":"internal_error"}"#),
    ]

    @Test(arguments: transient)
    func `A server that fails for now logs nobody out`(fault: OAuthTokenServer.Fault) async throws {
        let server = try OAuthTokenServer()
        let storage = try await stored()
        let provider = server.provider(storage, try server.client())
        // Requests that come after the failure begin another exchange.
        server.fail(with: Array(repeating: fault, count: 20))
        let outcomes = await send(20, "\(server.url)/api", provider)
        #expect(outcomes == ["later": 20])
        #expect(try await storage.load() == OAuthTokenServer.first)
        server.fail(with: [])
        let exchanges = server.exchanges
        #expect(await send(20, "\(server.url)/api", provider) == ["200": 20])
        #expect(server.exchanges == exchanges + 1)
        #expect(server.reuses == 0)
        #expect(
            try await storage.load()
                == OAuthToken(
                    accessToken: "access-2", refreshToken: "refresh-2", expiresAt: try await storage.load()?.expiresAt,
                    scope: "orders"))
    }

    @Test func `A server that can't be reached logs nobody out`() async throws {
        let server = try OAuthTokenServer()
        let storage = try await stored()
        let client = try OAuthClient(
            server: OAuthServer(tokenEndpoint: "http://127.0.0.1:\(try RawServer.closedPort())/token"), clientID: "app")
        #expect(await send(10, "\(server.url)/api", server.provider(storage, client)) == ["later": 10])
        #expect(try await storage.load() == OAuthTokenServer.first)
    }

    @Test(arguments: [
        OAuthTokenServer.Fault.respond(400, #"{"error":"invalid_grant"}"#),
        .respond(200, #"{"error":"bad_refresh_token","error_description":"from GitHub"}"#),
        .respond(403, "error=access_denied&error_description=gone"), .respond(401, #"{"error":"invalid_token"}"#),
        .respond(200, #"{"ok":false,"error":"invalid_refresh_token"}"#), .respond(400, #"{"error":"login_required"}"#),
    ])
    func `A server that refuses the refresh token logs the user out once`(fault: OAuthTokenServer.Fault) async throws {
        let server = try OAuthTokenServer()
        let storage = try await stored()
        var events = storage.events.makeAsyncIterator()
        server.fail(with: [fault])
        let outcomes = await send(100, "\(server.url)/api", server.provider(storage, try server.client()))
        #expect(outcomes["200"] == nil && outcomes["later"] == nil)
        #expect(server.exchanges == 1)
        #expect(try await storage.load() == nil)
        try await storage.save(OAuthToken(accessToken: "another login's"))
        guard case .refused(let error)? = await events.next() else {
            Issue.record("no refusal was reported")
            return
        }
        #expect("\(error)".contains("log in again"))
        // Nothing was reported between the refusal and the next login.
        guard case .saved? = await events.next() else {
            Issue.record("the refusal was reported twice")
            return
        }
    }

    @Test(arguments: [
        OAuthTokenServer.Fault.respond(401, #"{"error":"invalid_client"}"#), .respond(400, #"{"error":"unauthorized_client"}"#),
        .respond(400, #"{"error":"invalid_scope"}"#), .respond(400, #"{"error":"invalid_request"}"#),
        .respond(400, #"{"error":"use_dpop_nonce"}"#),
        // Auth0's response for a wrong client secret.
        .respond(401, #"{"error":"access_denied","error_description":"Unauthorized"}"#),
    ])
    func `A fault of the client's settings keeps the token`(fault: OAuthTokenServer.Fault) async throws {
        let server = try OAuthTokenServer()
        let storage = try await stored()
        let provider = server.provider(storage, try server.client())
        server.fail(with: [fault])
        #expect(await send(1, "\(server.url)/api", provider) == ["refused": 1])
        #expect(try await storage.load() == OAuthTokenServer.first)
        #expect(await send(1, "\(server.url)/api", provider) == ["200": 1])
    }

    @Test func `The server isn't asked again before the time that it names`() async throws {
        let server = try OAuthTokenServer()
        let client = try server.client()
        server.fail(with: [.respond(429, "", ["Retry-After: 120"])])
        let error = await #expect(throws: OAuthError.self) { try await client.refresh(OAuthTokenServer.first) }
        #expect(error?.retryAfter == .seconds(120))
        #expect(error?.description.contains("try again in 120 seconds") == true)
        let again = await #expect(throws: OAuthError.self) { try await client.refresh(OAuthTokenServer.first) }
        #expect(again?.isTransient == true)
        #expect(server.exchanges == 1)
        // A person's login doesn't wait.
        server.fail(with: [.respond(400, #"{"error":"invalid_grant"}"#)])
        await #expect(throws: OAuthError.self) {
            try await client.exchange(code: "code", verifier: PKCEVerifier(), redirectURI: "app:/")
        }
        #expect(server.exchanges == 2)
    }

    @Test func `A token without a refresh token stays, and the request ends with its 401`() async throws {
        let server = try OAuthTokenServer()
        let token = OAuthToken(accessToken: "access-0")
        let storage = try await stored(token)
        let provider = server.provider(storage, try server.client())
        #expect(await send(3, "\(server.url)/api", provider) == ["401": 3])
        #expect(try await storage.load() == token)
        try await storage.clear()
        #expect(await send(1, "\(server.url)/api", provider) == ["401": 1])
        #expect(server.exchanges == 0)
    }

    @Test func `The exchange may use the provider whose token it renews`() async throws {
        let server = try OAuthTokenServer()
        let storage = try await stored()
        let session = CurlSession()
        let client = Locked<OAuthClient?>(nil)
        // Provider and client refer to each other.
        defer { client.withLock { $0 = nil } }
        let sent = Collected<String>()
        let provider = NetworkProvider(
            session: session,
            interceptor: AuthenticationInterceptor(
                tokenStorage: storage, refreshStrategy: { try await #require(client.withLock(\.self)).refresh($0) }),
            observer: { request in
                if request.method == .post { sent.append(request.headers["Authorization"] ?? "none") }
            })
        let made = try server.client(provider: provider)
        client.withLock { $0 = made }
        #expect(await send(10, "\(server.url)/api", provider) == ["200": 10])
        // The request that renews a token doesn't carry the old token.
        #expect(sent.values == ["none"])
    }
}
