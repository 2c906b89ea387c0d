import Foundation
import NevodSessions
import Synchronization
import Testing

@testable import shredmate

/// Services and the client without a server: the tests bring their own client, tokens and transport.
struct ServiceTests {
    /// Responds to an endpoint by its path.
    private final class MockAPIClient: APIClienting {
        private let responses: [String: any Sendable]
        private let sent = Mutex<[String]>([])

        init(_ responses: [String: any Sendable]) { self.responses = responses }

        var paths: [String] { sent.withLock(\.self) }

        func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
            sent.withLock { $0.append(endpoint.path) }
            guard let response = responses[endpoint.path] as? T else { throw NetworkError.clientError(404) }
            return response
        }
    }

    /// Tokens in memory, which "renews" by counting.
    private struct MockTokens: TokenProvider {
        let tokens = SessionTokens(storage: InMemoryStorage())
        let refreshes = Counter()

        func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
            refreshes.count()
            return AuthTokens(accessToken: "new", refreshToken: tokens.refreshToken)
        }
    }

    /// Follows a script of statuses and bodies, and keeps the requests.
    private final class ScriptedTransport: HTTPTransport {
        private let script: Mutex<[(status: Int, body: String)]>
        private let sent = Mutex<[String]>([])

        init(_ script: (status: Int, body: String)...) { self.script = Mutex(script) }

        /// The requests, each as its method, path and bearer.
        var requests: [String] { sent.withLock(\.self) }

        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            sent.withLock { $0.append("\(request.method) \(request.target) \(request.headers["Authorization"] ?? "-")") }
            let next = script.withLock { $0.isEmpty ? (500, "") : $0.removeFirst() }
            return HTTPResponse(
                version: .http11, status: next.0, reason: "", headers: HTTPHeaders(), body: .bytes(Array(next.1.utf8)))
        }
    }

    @Test func `A service with a mock client`() async throws {
        let ada = Rider(id: "1", name: "Ada", type: .mentor, description: nil, avatarUrl: nil)
        let client = MockAPIClient(["/riders/me": ada, "/riders/me/sports/bmx%2Fstreet": EmptyResponse()])
        let service = RiderService(client: client)
        #expect(try await service.fetchMyRider() == ada)
        try await service.removeSport(id: "bmx/street")
        await #expect(throws: NetworkError.clientError(404)) { try await service.fetchAllSports() }
        #expect(try await service.updateMyRider(UpdateRiderRequest(name: "Eve")) == ada)
        #expect(client.paths == ["/riders/me", "/riders/me/sports/bmx%2Fstreet", "/sports", "/riders/me"])
    }

    @Test func `A login with a mock client keeps the session`() async throws {
        let user = User(id: "1", email: "ada@example.com", name: "Ada", createdAt: Date(timeIntervalSince1970: 0))
        let client = MockAPIClient([
            "/auth/login": AuthResponse(accessToken: "a", refreshToken: "r", user: user), "/auth/logout": EmptyResponse(),
        ])
        let storage = SessionStorage<User>(storage: InMemoryStorage())
        let service = AuthService(client: client, tokenStorage: storage)
        try await service.login(email: user.email, password: "secret")
        #expect(await storage.loadTokens() == AuthTokens(accessToken: "a", refreshToken: "r"))
        #expect(await storage.loadUser() == user)
        try await service.logout()
        #expect(await storage.loadTokens() == nil)
        #expect(await storage.loadUser() == nil)
        #expect(client.paths == ["/auth/login", "/auth/logout"])
    }

    @Test func `A service with mock tokens and a scripted transport`() async throws {
        let tokens = MockTokens()
        try await tokens.tokens.storage.save(AuthTokens(accessToken: "old", refreshToken: "r"))
        let transport = ScriptedTransport((401, "{}"), (200, #"[{"id": "surf", "name": "Surfing"}]"#))
        let client = AuthenticatingHTTPClient(
            baseURL: "https://api.riders.example/v1", tokenProvider: tokens, session: transport)
        #expect(try await RiderService(client: client).fetchAllSports() == [Sport(id: "surf", name: "Surfing")])
        #expect(transport.requests == ["GET /v1/sports Bearer old", "GET /v1/sports Bearer new"])
        #expect(tokens.refreshes.value == 1)
    }

    @Test func `A scripted login carries no bearer`() async throws {
        let tokens = MockTokens()
        try await tokens.tokens.storage.save(AuthTokens(accessToken: "old", refreshToken: "r"))
        let transport = ScriptedTransport((401, #"{"message": "no"}"#))
        let client = AuthenticatingHTTPClient(
            baseURL: "https://api.riders.example/v1", tokenProvider: tokens, session: transport)
        await #expect(throws: NetworkError.unauthorized) {
            try await client.send(AuthAPI.login(email: "ada@example.com", password: "wrong"))
        }
        #expect(transport.requests == ["POST /v1/auth/login -"])
        #expect(tokens.refreshes.value == 0)
    }
}
