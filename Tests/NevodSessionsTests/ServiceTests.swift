import NevodHost
import NevodSessions
import NevodTestSupport
import Testing

/// A service is tested without HTTP, with the test's own client, tokens or transport.
struct ServiceTests {
    private struct SportsService {
        let client: any APIClienting

        func names() async throws -> [String] { try await client.send(API.sports()).map(\.name) }
        func upload(_ bytes: [UInt8], progress: @escaping ProgressHandler) async throws -> Int {
            let form = MultipartFormData(fileData: bytes, fileName: "a.jpg", mimeType: "image/jpeg")
            let endpoint = Endpoint<Uploaded>.uploadMultipart("/upload", multipart: form, auth: .bearerToken)
            return try await client.send(endpoint, uploadProgress: progress).bytes
        }
    }

    private struct MockClient: APIClienting {
        let responses: [String: any Sendable]

        func send<T: Decodable & Sendable>(_ endpoint: Endpoint<T>) async throws -> T {
            guard let response = responses[endpoint.path] as? T else { throw NetworkError.clientError(404) }
            return response
        }
    }

    private struct MockTokens: TokenProvider {
        let tokens = SessionTokens(storage: InMemoryStorage())

        func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
            AuthTokens(accessToken: "second", refreshToken: tokens.refreshToken)
        }
    }

    private struct ScriptedTransport: HTTPTransport {
        let seen = Collected<String>()

        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            let token = request.headers["Authorization"] ?? "none"
            seen.append("\(request.method) \(request.target) \(token)")
            let isValid = token == "Bearer second"
            return HTTPResponse(
                version: .http11, status: isValid ? 200 : 401, reason: "", headers: HTTPHeaders(),
                body: .bytes(Array((isValid ? #"[{"name": "ski"}]"# : "").utf8)))
        }
    }

    @Test func `With a client that answers by path`() async throws {
        let client = MockClient(responses: ["/sports": [Sport(name: "ski")], "/upload": Uploaded(bytes: 3)])
        let service = SportsService(client: client)
        #expect(try await service.names() == ["ski"])
        #expect(try await service.upload([1, 2, 3]) { _ in } == 3)
        await #expect(throws: NetworkError.clientError(404)) { try await client.send(API.me()) }
    }

    @Test func `With tokens and a transport`() async throws {
        let (tokens, transport) = (MockTokens(), ScriptedTransport())
        try await tokens.tokens.storage.save(AuthTokens(accessToken: "first", refreshToken: "r"))
        let client = AuthenticatingHTTPClient(
            baseURL: "https://api.example.com/v1", tokenProvider: tokens, session: transport)
        #expect(try await SportsService(client: client).names() == ["ski"])
        #expect(transport.seen.values == ["GET /v1/sports Bearer first", "GET /v1/sports Bearer second"])
        #expect(try await tokens.tokens.storage.load()?.accessToken == "second")
    }
}
