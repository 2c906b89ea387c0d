import Foundation
import NevodHost
import NevodJWT
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

/// A client with a validator verifies received and loaded tokens before it uses them.
struct ClientValidationTests {
    /// Counts how often a token's keys are requested: once for each verification.
    private final class CountingKeys: JWTKeySource {
        let keys: JSONWebKeySet
        let asked = Collected<Int>()
        /// Holds the keys back until it is set.
        let gate = Locked<Latch?>(nil)

        init(keys: JSONWebKeySet) {
            self.keys = keys
        }

        func keys(for header: JWTHeader) async throws -> [JSONWebKey] {
            asked.append(1)
            await gate.withLock({ $0 })?.wait()
            return keys.keys(for: header)
        }
    }

    private let backend: Backend
    private let keys: CountingKeys
    private let storage = SessionStorage<User>(storage: InMemoryStorage())

    init() throws {
        backend = try Backend()
        backend.issueJWT()
        backend.setLifetime(3600)
        keys = CountingKeys(
            keys: JSONWebKeySet([try JSONWebKey(secret: Secret(copying: Array(Backend.key.utf8)), algorithm: .hs256)]))
    }

    private func client(_ provider: DefaultTokenProvider? = nil) -> JWTAuthClient {
        JWTAuthClient(
            baseURL: backend.url,
            tokenProvider: provider ?? DefaultTokenProvider(tokenStorage: storage, baseURL: backend.url),
            validator: TokenValidator(
                verifier: JWTVerifier(algorithms: [.hs256], issuer: "backend", audience: "app"), keys: keys),
            retryPolicy: .none)
    }

    private func login() async throws -> AuthTokens {
        let response: SuccessResponse<AuthResponse> = try await client().send(API.login("ada@example.com"))
        return response.tokens
    }

    private func forged(lifetime: Double = 3600) -> AuthTokens {
        let claims = #"{"iss": "backend", "aud": "app", "exp": \#(Int(Date().timeIntervalSince1970 + lifetime))}"#
        return AuthTokens(access: .jwt(claims, key: "another key, which also has 32 bytes or more"), refresh: "refresh-1")
    }

    @Test func `A token is verified once, not for each request`() async throws {
        let client = client()
        try await client.saveSession(login())
        for _ in 0..<5 {
            let sports: SuccessResponse<[Sport]> = try await client.sendAuthenticated(.get("/sports"))
            #expect(sports.data.count == 2)
            #expect(try await client.loadSession().isValid)
        }
        #expect(keys.asked.values.count == 1)
        // Like a load by another client: once more.
        let other = self.client()
        for renews in [true, false, true] {
            _ = try await other.sendAuthenticated(.get("/sports"), refreshExpiredToken: renews)
        }
        #expect(keys.asked.values.count == 2)
        // A renewed one is also verified.
        backend.expireAccessTokens()
        _ = try await client.sendAuthenticated(.get("/sports"))
        #expect(keys.asked.values.count > 2 && backend.requests(to: "/auth/refresh").count == 1)
    }

    @Test func `A stored token that isn't the issuer's is never sent`() async throws {
        let (client, forged) = (client(), forged())
        await #expect(throws: JWTError.self) { try await client.saveSession(forged) }
        #expect(try await storage.load() == nil)
        try await storage.saveTokens(forged)
        let error = await #expect(throws: JWTError.self) { try await client.loadSession() }
        #expect(error?.code == .signature)
        for renews in [true, false] {
            let error = await #expect(throws: NetworkError.self) {
                try await client.sendAuthenticated(.get("/sports"), refreshExpiredToken: renews)
            }
            #expect((error?.underlying as? JWTError)?.code == .signature)
        }
        client.preloadTokens()
        await #expect(throws: JWTError.self) { try await client.loadSession() }
        #expect(backend.log.isEmpty)
        // A login without the session goes on.
        #expect(try await login().access != forged.access)
        // Only accepted tokens are reported.
        var sessions = client.sessions.makeAsyncIterator()
        let tokens = try await login()
        try await client.saveSession(tokens)
        #expect(await sessions.next() == .valid(tokens))
    }

    @Test func `A stored token that isn't the issuer's goes on no request of the provider either`() async throws {
        let client = client()
        try await storage.saveTokens(forged())
        for path in ["/sports", "/file"] {
            let request = try HTTPRequest(.get, backend.url + path)
            await #expect(throws: NetworkError.self) { try await client.provider.send(request) }
        }
        #expect(backend.log.isEmpty)
        // Tokens that the app writes itself don't belong to the session.
        var request = try HTTPRequest(.get, backend.url + "/sports")
        try request.setHeader("Authorization", "Bearer own")
        try await storage.clearAll()
        _ = try await client.provider.send(request)
        #expect(backend.log.first?.bearer == "own")
    }

    @Test func `A request waits for keys until its own deadline`() async throws {
        let client = client()
        try await storage.saveTokens(login())
        let gate = Latch()
        keys.gate.withLock { $0 = gate }
        defer { gate.set() }
        await #expect(throws: NetworkError.timeout) {
            try await client.sendAuthenticated(.get("/sports")) { RequestMiddleware.timeout(.milliseconds(100)) }
        }
    }

    @Test func `A session that ended while it was preloaded is not loaded`() async throws {
        let client = client()
        try await storage.saveTokens(login())
        let gate = Latch()
        keys.gate.withLock { $0 = gate }
        client.preloadTokens()
        #expect(await eventually { !keys.asked.values.isEmpty })
        try await client.clearSession()
        let session = Task { try await client.loadSession() }
        #expect(await eventually { client.preload.waitingCount == 1 })
        gate.set()
        #expect(try await session.value == .missing)
    }

    @Test func `An expired token that isn't the issuer's is not reported as a session`() async throws {
        try await storage.saveTokens(forged(lifetime: -100))
        await #expect(throws: JWTError.self) { try await client().loadSession() }
        backend.setLifetime(-100)
        let tokens = try await login()
        try await storage.saveTokens(tokens)
        #expect(try await client().loadSession() == .expired(tokens))
    }

    @Test func `A renewal with another's token keeps the old ones`() async throws {
        let forged = forged()
        let client = client(DefaultTokenProvider(tokenStorage: storage) { _ in forged })
        let old = try await login()
        try await client.saveSession(old)
        backend.expireAccessTokens()
        let error = await #expect(throws: NetworkError.self) { try await client.sendAuthenticated(.get("/sports")) }
        #expect(error == .authenticationFailed)
        #expect(try await storage.load()?.tokens == old)
        #expect(!backend.log.contains { $0.bearer == forged.access })
    }
}
