import NevodSessions
import Testing

@testable import sessions

struct MockAPIClient: APIClienting {
    var responses: [String: any Sendable] = [:]

    func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
        guard let response = responses[endpoint.path] as? T else { throw NetworkError.clientError(404) }
        return response
    }
}

struct MockTokens: TokenProvider {
    let tokens = SessionTokens(storage: InMemoryStorage())

    func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
        AuthTokens(accessToken: "second", refreshToken: tokens.refreshToken)
    }
}

struct ScriptedTransport: HTTPTransport {
    func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
        let isValid = request.headers["Authorization"] == "Bearer second"
        return HTTPResponse(
            version: .http11, status: isValid ? 200 : 401, reason: "", headers: HTTPHeaders(),
            body: .bytes(Array((isValid ? #"[{"name": "surf"}]"# : "").utf8)))
    }
}

@Test func `A service with a client of the test's own`() async throws {
    let client = MockAPIClient(responses: ["/sports": [Sport(name: "ski")]])
    #expect(try await SportsService(client: client).names() == ["ski"])
}

@Test func `A service with tokens and a transport of the test's own`() async throws {
    let tokens = MockTokens()
    try await tokens.tokens.storage.save(AuthTokens(accessToken: "first", refreshToken: "r"))
    let client = AuthenticatingHTTPClient(
        baseURL: "https://api.example.com", tokenProvider: tokens, session: ScriptedTransport())
    #expect(try await SportsService(client: client).names() == ["surf"])
}
