import Foundation
import NevodHostFoundation
import Testing

@testable import services

struct MockToken: TokenModel {
    let value: String

    func authorize(_ request: inout URLRequest) {
        request.setValue("Mock-\(value)", forHTTPHeaderField: "Authorization")
    }

    func encode() throws -> Data { value.data(using: .utf8)! }
    static func decode(from data: Data) throws -> Self {
        MockToken(value: String(data: data, encoding: .utf8)!)
    }
}

/// A test double of a server, which accepts one value of a header and responds to all others with 401.
struct Accepting: HTTPTransport {
    let name: String
    let value: String

    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        let status = request.headers[name] == value ? 200 : 401
        return HTTPResponse(version: .http11, status: status, reason: "", headers: HTTPHeaders(), body: .bytes(Array("{}".utf8)))
    }
}

struct MockTokenTests {
    private let me = SimpleGetRoute<EmptyResponse, AppDomains>(endpoint: "/users/me", domain: .mainAPI)

    @Test func `A token is stored`() async throws {
        let storage = TokenStorage<MockToken>(storage: InMemoryStorage())
        try await storage.save(MockToken(value: "test"))
        #expect(try await storage.load()?.value == "test")
        try await storage.clear()
        #expect(try await storage.load() == nil)
    }

    @Test func `A token goes on a request`() {
        var request = URLRequest(url: URL(string: "https://api.example.com/users/me")!)
        MockToken(value: "test").authorize(&request)
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Mock-test")
    }

    @Test func `A refused token is renewed`() async throws {
        let storage = TokenStorage<MockToken>(storage: InMemoryStorage())
        try await storage.save(MockToken(value: "old"))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { old in MockToken(value: "\(old!.value)er") })
        let provider = NetworkProvider(
            config: config, session: Accepting(name: "Authorization", value: "Mock-older"), interceptor: interceptor)
        _ = try await provider.perform(me)
        #expect(try await storage.load()?.value == "older")
    }

    @Test func `A renewal that fails for now keeps the token`() async throws {
        let storage = TokenStorage<MockToken>(storage: InMemoryStorage())
        try await storage.save(MockToken(value: "old"))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage, refreshStrategy: { _ in throw NetworkError.noConnection })
        let provider = NetworkProvider(
            config: config, session: Accepting(name: "Authorization", value: "Mock-new"), interceptor: interceptor)
        await #expect(throws: NetworkError.authenticationFailed) { try await provider.perform(me) }
        #expect(try await storage.load()?.value == "old")
    }

    @Test func `Credentials that don't expire`() async throws {
        let storage = TokenStorage<HMACToken>(storage: InMemoryStorage(), key: .hmac)
        try await storage.save(HMACToken(apiKey: "key", secret: "secret"))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { $0! }  // Credentials don't expire
        )
        let provider = NetworkProvider(
            config: config, session: Accepting(name: "X-API-Key", value: "another"), interceptor: interceptor)
        await #expect(throws: NetworkError.unauthorized) { try await provider.perform(me) }
        #expect(try await storage.load()?.secret == "secret")
    }

    @Test func `Cookies of Foundation's storage`() throws {
        let url = URL(string: "https://legacy.example.com/")!
        let cookies = HTTPCookieStorage.shared.cookies(for: url) ?? []
        let token = CookieToken(sessionCookies: cookies)
        #expect(token.sessionCookies.isEmpty)
    }
}
