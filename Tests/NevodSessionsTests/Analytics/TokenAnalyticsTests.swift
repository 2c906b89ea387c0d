import Foundation
import NevodHost
import NevodJWT
import NevodSessions
import NevodSupport
import NevodTestSupport
import Testing

struct TokenAnalyticsTests {
    private typealias Key = TokenAnalyticsSnapshot.RequestKey

    private let server: ScriptedServer
    private let clock = HandClock()

    init() throws {
        server = try ScriptedServer(.init(body: "{}"))
    }

    private func client(_ token: String, _ analytics: TokenAnalytics) async throws -> AuthenticatingHTTPClient {
        let provider = StoredTokens()
        try await provider.tokens.storage.save(AuthTokens(accessToken: token, refreshToken: "r"))
        return AuthenticatingHTTPClient(
            baseURL: server.url, tokenProvider: analytics.measuring(provider), retryPolicy: .none, interceptors: [analytics])
    }

    private struct StoredTokens: TokenProvider {
        let tokens = SessionTokens(storage: InMemoryStorage())

        func refresh(_ tokens: AuthTokens) async throws -> AuthTokens { throw NetworkError.noConnection }
    }

    @Test func `Requests are counted by template and outcome, and no value is in a label`() async throws {
        let analytics = TokenAnalytics(clock: clock.host)
        let client = try await client("opaque-secret", analytics)
        for id in 70_001...70_003 {
            _ = try await client.send(Endpoint<EmptyResponse>.get("/users/\(id)/posts?of=\(id)", auth: .bearerToken))
        }
        server.respond(.init(status: 503))
        _ = try? await client.send(Endpoint<EmptyResponse>.delete("/users/\(70_004)", auth: .bearerToken))
        server.respond(.init(body: "{}"))
        _ = try await client.send(Endpoint<EmptyResponse>.get("/about", auth: .none))
        _ = try await client.send(Endpoint<EmptyResponse>.get(EndpointPath(encoded: "/users/70005"), auth: .bearerToken))
        let snapshot = analytics.snapshot
        #expect(snapshot.requestCount(of: "GET /users/{}/posts") == 3)
        #expect(
            snapshot.requests == [
                Key(route: "GET /users/{}/posts", outcome: .success): 3, Key(route: "DELETE /users/{}", outcome: .serverError): 1,
                Key(route: "GET Endpoint<EmptyResponse>", outcome: .success): 1,
            ])
        var dumped = snapshot.prometheusText
        dump(snapshot, to: &dumped)
        #expect(!dumped.contains("/7000") && !dumped.contains("opaque-secret") && snapshot.users.isEmpty)
    }

    @Test func `A route names its own template, and a request without a route is other`() async throws {
        struct Posts: Route {
            typealias Response = EmptyResponse
            let user: Int
            var domain: DefaultDomain { .default }
            var endpoint: String { "/users/\(user)/posts" }
            var endpointTemplate: String? { "/users/{user}/posts" }
            var method: HTTPMethod { .get }
        }
        let analytics = TokenAnalytics()
        let client = try await client("t", analytics)
        _ = try await client.provider.perform(Posts(user: 80_001))
        _ = try await client.provider.send(HTTPRequest(.put, "\(server.url)/users/80001"))
        #expect(
            analytics.snapshot.requests == [
                Key(route: "GET /users/{user}/posts", outcome: .success): 1, Key(route: "PUT other", outcome: .success): 1,
            ])
    }

    @Test func `The number of routes and of users is limited`() async throws {
        let analytics = TokenAnalytics(users: .byClaim("sub"), maxRoutes: 2, maxUsers: 2, clock: clock.host)
        for number in 1...5 {
            analytics.requestFinished(TokenRequestEvent(route: "GET /\(number)", outcome: .success, user: "user-\(number)"))
        }
        let snapshot = analytics.snapshot
        #expect(
            snapshot.requests == [
                Key(route: "GET /1", outcome: .success): 1, Key(route: "GET /2", outcome: .success): 1,
                Key(route: "other", outcome: .success): 3,
            ])
        #expect(snapshot.users.mapValues(\.requestCount) == ["user-1": 1, "user-2": 1, "other": 3])
        analytics.requestFinished(
            TokenRequestEvent(route: "GET /1", outcome: .failed, user: String(repeating: "x", count: 10_000)))
        #expect(analytics.snapshot.users.keys.allSatisfy { $0.count <= 128 })
    }

    @Test func `Users are counted by a claim if asked`() async throws {
        let analytics = TokenAnalytics(users: .byClaim("sub"), clock: clock.host)
        for (token, times) in [(SignedTokens.one, 2), (SignedTokens.forBob, 1), ("opaque", 1)] {
            let client = try await client(token, analytics)
            for _ in 0..<times { _ = try await client.send(Endpoint<EmptyResponse>.get("/a", auth: .bearerToken)) }
            clock.advance(60)
            _ = try await client.send(Endpoint<EmptyResponse>.get("/b", auth: .bearerToken))
        }
        let ada = try #require(analytics.metric(for: "ada"))
        #expect(ada.requestCount == 3 && ada.endpoints == ["GET /a", "GET /b"])
        #expect(ada.lastUsed == Date(timeIntervalSince1970: Double(SignedTokens.time + 60)))
        #expect(analytics.metric(for: "bob")?.requestCount == 2)
        #expect(Set(analytics.snapshot.users.keys) == ["ada", "bob"])
        // A function's text instead of the identifier.
        let hashed = TokenAnalytics(users: .by { $0.subject.map { _ in "someone" } })
        _ = try await self.client(SignedTokens.one, hashed).send(Endpoint<EmptyResponse>.get("/a", auth: .bearerToken))
        #expect(Array(hashed.snapshot.users.keys) == ["someone"])
    }

    @Test func `A token's age counts from its issue, or from its first use`() async throws {
        let analytics = TokenAnalytics(clock: clock.host)
        clock.advance(100)
        let signed = try await client(SignedTokens.one, analytics)
        _ = try await signed.send(Endpoint<EmptyResponse>.get("/", auth: .bearerToken))
        #expect(analytics.snapshot.tokenAges.sum == 100)
        let opaque = try await client("opaque", analytics)
        _ = try await opaque.send(Endpoint<EmptyResponse>.get("/", auth: .bearerToken))
        clock.advance(500)
        _ = try await opaque.send(Endpoint<EmptyResponse>.get("/", auth: .bearerToken))
        let ages = analytics.snapshot.tokenAges
        #expect(ages.count == 3 && ages.sum == 600 && ages.max == 500)
        #expect(ages.buckets[try #require(ages.bounds.firstIndex(of: 900))] == 1)
        // Issued ahead of this machine's clock.
        let behind = TokenAnalytics(clock: HandClock(SignedTokens.time - 50).host)
        _ = try await client(SignedTokens.one, behind).send(Endpoint<EmptyResponse>.get("/", auth: .bearerToken))
        #expect(behind.snapshot.tokenAges.sum == 0)
    }

    @Test func `A renewal that many requests share is counted once, and each failure by its cause`() async throws {
        let backend = try Backend()
        let app = App(backend.url)
        try await app.logIn()
        let events = CollectedEvents()
        let analytics = TokenAnalytics(forwardingTo: [events])
        let client = AuthenticatingHTTPClient(
            baseURL: backend.url,
            tokenProvider: analytics.measuring(DefaultTokenProvider(tokenStorage: app.storage, baseURL: backend.url)),
            interceptors: [analytics])
        backend.expireAccessTokens()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await client.send(API.sports()) } }
            try await group.waitForAll()
        }
        #expect(analytics.snapshot.refreshCount == 1 && analytics.snapshot.refreshFailures.isEmpty)
        #expect(analytics.snapshot.requests[Key(route: "GET /sports", outcome: .success)] == 50)
        #expect(analytics.snapshot.requests[Key(route: "GET /sports", outcome: .clientError)] ?? 0 >= 1)
        backend.expireAccessTokens()
        backend.setRefresh(.offline)
        await #expect(throws: NetworkError.authenticationFailed) { try await client.send(API.sports()) }
        backend.setRefresh(.refused)
        await #expect(throws: NetworkError.unauthorized) { try await client.send(API.sports()) }
        let snapshot = analytics.snapshot
        #expect(snapshot.refreshFailures == [.network: 1, .refused: 1])
        let durations = snapshot.refreshDurations
        #expect(durations.count == 3 && durations.sum >= durations.max && durations.max > 0)
        #expect(durations.buckets.reduce(0, +) == 3)
        #expect(events.refreshes.values.map(\.failure) == [nil, .network, .refused])
        #expect(events.requests.values.count == snapshot.requests.values.reduce(0, +))
    }

    private struct CollectedEvents: TokenMetrics {
        let refreshes = Collected<TokenRefreshEvent>()
        let requests = Collected<TokenRequestEvent>()

        func refreshFinished(_ event: TokenRefreshEvent) { refreshes.append(event) }
        func requestFinished(_ event: TokenRequestEvent) { requests.append(event) }
    }

    private static let failures: [(error: any Error, cause: RefreshFailure)] = [
        (RefreshRejectedError("no"), .refused),
        (NetworkError.clientError(400, data: Array(#"{"error":"invalid_grant"}"#.utf8), response: nil), .refused),
        (NetworkError.clientError(400, data: Array(#"{"error":"invalid_request"}"#.utf8), response: nil), .other),
        (NetworkError.timeout, .timeout), (NetworkError.noConnection, .network), (NetworkError.serverError(502), .serverError),
        (NetworkError.transport(TransportError(.tls)), .network),
        (NetworkError.interceptor("Own", StorageError(.full, "file", problem: "no space")), .storage),
        (StorageError(.unavailable, "file", problem: "gone"), .storage), (CancellationError(), .other),
    ]

    @Test(arguments: failures)
    func `A failure has a cause`(error: any Error, cause: RefreshFailure) {
        #expect(RefreshFailure(error) == cause)
    }

    @Test func `A token that can't be verified is a cause of its own`() async throws {
        let error = #expect(throws: JWTError.self) { try JSONWebToken("no token") }
        #expect(RefreshFailure(try #require(error)) == .verification)
        server.respond(.init(status: 500))
        let missing = await #expect(throws: RemoteKeyError.self) { try await RemoteKeySet(url: server.url).load() }
        #expect(RefreshFailure(try #require(missing)) == .verification)
    }
}
