import Foundation
import NevodHost
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodSessions

/// An app's client whose requests need a presence check, and its server.
struct PresenceInterceptorTests {
    private let backend: Backend
    private let check = ManualCheck()
    private let storage = SessionStorage<User>(storage: InMemoryStorage())
    private let refusal = PresenceError(.refused, "the test", problem: "says no")

    init() throws {
        backend = try Backend()
    }

    private func client(_ presence: Presence, timeout: Duration? = .seconds(60)) -> AuthenticatingHTTPClient {
        AuthenticatingHTTPClient(
            baseURL: backend.url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: backend.url),
            timeout: timeout, retryPolicy: .none, interceptors: [PresenceInterceptor(presence)])
    }

    private func presence(_ validFor: Duration = .seconds(600)) -> Presence {
        Presence(check: check, validFor: validFor, reason: "why")
    }

    private func logIn(_ client: AuthenticatingHTTPClient) async throws {
        let response = try await client.send(API.login("ada@example.com"))
        try await storage.save(response.tokens, user: response.user)
    }

    @Test func `A login asks nothing; the first use of its token does, once`() async throws {
        let client = client(presence())
        try await logIn(client)
        #expect(check.asked.values.isEmpty)
        async let sports = client.send(API.sports())
        #expect(await eventually { check.openCount == 1 })
        // Nothing is sent before the answer.
        #expect(backend.requests(to: "/sports").isEmpty)
        check.answer()
        #expect(try await sports.count == 2)
        _ = try await client.send(API.me())
        #expect(check.asked.values == ["why"])
    }

    @Test func `50 requests share one question`() async throws {
        let presence = presence()
        let client = client(presence)
        try await logIn(client)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await client.send(API.sports()).count } }
            #expect(await eventually { presence.waitingCount == 50 })
            await check.answer(1)
            for try await count in group { #expect(count == 2) }
        }
    }

    @Test func `A refusal fails the request by name, sends nothing, and keeps the session`() async throws {
        let client = client(presence())
        try await logIn(client)
        async let sports = client.send(API.sports())
        await check.answer(1, refusal)
        do {
            _ = try await sports
            Issue.record("sent without a presence")
        } catch NetworkError.interceptor(let name, let error) {
            #expect(name == "PresenceInterceptor" && error as? PresenceError == refusal)
        }
        #expect(backend.requests(to: "/sports").isEmpty)
        #expect(await storage.loadUser()?.email == "ada@example.com")
        // The next request asks again.
        async let again = client.send(API.sports())
        await check.answer(2)
        #expect(try await again.count == 2)
    }

    @Test func `A token that is due is not renewed before the answer`() async throws {
        let client = client(presence())
        try await logIn(client)
        try await storage.saveTokens(
            AuthTokens(accessToken: "old", refreshToken: "refresh-1", expiresAt: Date(timeIntervalSince1970: 1)))
        async let sports = client.send(API.sports())
        #expect(await eventually { check.openCount == 1 })
        #expect(backend.requests(to: "/auth/refresh").isEmpty)
        check.answer()
        #expect(try await sports.count == 2)
        #expect(backend.requests(to: "/auth/refresh").count == 1)
    }

    @Test func `A retry after a lock asks again`() async throws {
        let presence = presence()
        let (storage, url) = (storage, backend.url)
        let renewal = DefaultTokenProvider(tokenStorage: storage, baseURL: url)
        let client = AuthenticatingHTTPClient(
            baseURL: url,
            tokenProvider: DefaultTokenProvider(tokenStorage: storage) { old in
                presence.forget()
                return try await renewal.refresh(old)
            }, interceptors: [PresenceInterceptor(presence)])
        try await logIn(client)
        backend.expireAccessTokens()
        async let sports = client.send(API.sports())
        await check.answer(1)
        await check.answer(2)
        #expect(try await sports.count == 2)
    }

    @Test func `A retry with a renewed token asks nothing`() async throws {
        // A confirmation doesn't count for another request.
        let presence = presence(.zero)
        let client = client(presence)
        try await logIn(client)
        backend.expireAccessTokens()
        async let sports = client.send(API.sports())
        await check.answer(1)
        #expect(try await sports.count == 2)
        #expect(backend.requests(to: "/sports").count == 2 && check.asked.values.count == 1)
    }

    @Test func `Logging out, looking at the expiry and observing ask nothing`() async throws {
        let presence = presence()
        let client = client(presence)
        let tokens = storage.tokens.storage
        let seen = Collected<String?>()
        let changes = tokens.changes
        let watching = Task { for await change in changes { seen.append(change?.accessToken) } }
        try await logIn(client)
        #expect(try await !storage.isDueForRenewal())
        #expect(await storage.loadTokens() != nil)
        try await storage.clearAll()
        #expect(await eventually { seen.values.last == .some(nil) })
        watching.cancel()
        #expect(check.asked.values.isEmpty)
    }

    @Test func `A filter leaves out the request of a logout`() async throws {
        let presence = presence()
        let client = AuthenticatingHTTPClient(
            baseURL: backend.url, tokenProvider: DefaultTokenProvider(tokenStorage: storage, baseURL: backend.url),
            interceptors: [PresenceInterceptor(presence, for: .all.except(.route { $0.endpoint == "/auth/logout" }))])
        try await logIn(client)
        _ = try await client.send(API.logout())
        #expect(backend.requests(to: "/auth/logout").map(\.bearer) == ["access-1"])
        #expect(check.asked.values.isEmpty)
    }

    @Test func `A cancelled request closes the question`() async throws {
        let client = client(presence())
        try await logIn(client)
        let sports = Task { try await client.send(API.sports()) }
        #expect(await eventually { check.openCount == 1 })
        sports.cancel()
        await #expect(throws: NetworkError.cancelled) { try await sports.value }
        #expect(await eventually { check.cancelled.values.count == 1 })
        #expect(backend.requests(to: "/sports").isEmpty)
    }

    @Test func `A request whose time is up while it waits for the person times out`() async throws {
        let client = client(presence(), timeout: .milliseconds(300))
        try await logIn(client)
        await #expect(throws: NetworkError.timeout) { try await client.send(API.sports()) }
        #expect(await eventually { check.cancelled.values.count == 1 })
        #expect(backend.requests(to: "/sports").isEmpty)
    }

    @Test func `A request that waits for the person holds no slot`() async throws {
        var config = NetworkConfig(environments: [DefaultDomain.default: SimpleEnvironment(baseURL: backend.url)])
        config.maxConcurrentRequestsPerOrigin = 1
        let url = backend.url
        let presence = presence()
        let guarded = NetworkProvider(
            config: config,
            interceptor: InterceptorChain([PresenceInterceptor(presence, for: RequestFilter { $0.target.hasSuffix("/sports") })]))
        async let sports = guarded.send(HTTPRequest(.get, "\(url)/sports"))
        #expect(await eventually { check.openCount == 1 })
        // The only slot is free for it.
        #expect(try await guarded.send(HTTPRequest(.get, "\(url)/other")).status == 401)
        check.answer()
        #expect(try await sports.status == 401)
    }

    @Test func `A request that a redirect led elsewhere needs no presence`() async throws {
        let other = try RawServer.responding("HTTP/1.1 204 No Content\r\n\r\n")
        let here = try RawServer.responding("HTTP/1.1 302 Found\r\nLocation: \(other.url)/\r\nContent-Length: 0\r\n\r\n")
        // Asks for each hop that needs a presence check.
        let provider = NetworkProvider.quick(baseURL: here.url, interceptor: PresenceInterceptor(presence(.zero)))
        let url = here.url
        async let response = provider.send(HTTPRequest(.get, url))
        await check.answer(1)
        #expect(try await response.status == 204)
        #expect(check.asked.values.count == 1)
    }
}
