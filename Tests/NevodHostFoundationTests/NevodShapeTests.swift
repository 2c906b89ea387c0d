import Foundation
import NevodHostFoundation
import NevodTestSupport
import Testing

/// Code written for Nevod's API, with its names and signatures.
struct NevodShapeTests {
    private struct CustomHeaderToken: TokenModel {
        let clientID: String
        let clientSecret: String

        func authorize(_ request: inout URLRequest) {
            request.setValue(clientID, forHTTPHeaderField: "X-Client-ID")
            request.setValue(clientSecret, forHTTPHeaderField: "X-Client-Secret")
        }

        func encode() throws -> Data {
            try JSONEncoder().encode(["id": clientID, "secret": clientSecret])
        }

        static func decode(from data: Data) throws -> Self {
            let fields = try JSONDecoder().decode([String: String].self, from: data)
            return CustomHeaderToken(clientID: fields["id"] ?? "", clientSecret: fields["secret"] ?? "")
        }
    }

    private struct ExpiringToken: TokenModel, Codable {
        let accessToken: String
        let expiresAt: Date

        func authorize(_ request: inout URLRequest) {
            request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
        }

        func encode() throws -> Data { try JSONEncoder().encode(self) }
        static func decode(from data: Data) throws -> Self { try JSONDecoder().decode(Self.self, from: data) }
    }

    /// An interceptor in Nevod's style, with its own state.
    private actor SessionInterceptor: RequestInterceptor {
        private var session = 1
        private(set) var seen: [String] = []

        func adapt(_ request: URLRequest) async throws -> URLRequest {
            var request = request
            request.setValue("\(session)", forHTTPHeaderField: "X-Session")
            seen.append("attempt \(Exchange.current?.attempt ?? 0)")
            return request
        }

        func retry(_ request: URLRequest, response: HTTPURLResponse?, error: NetworkError) async throws -> Bool {
            guard case .unauthorized = error else { return false }
            seen.append("\(response?.statusCode ?? 0) for \(request.value(forHTTPHeaderField: "X-Session") ?? "")")
            session += 1
            return true
        }
    }

    private func server(accepting header: String) throws -> RawServer {
        try RawServer { connection, _ in
            while let request = connection.readRequest() {
                let isGood = request.head.lowercased().contains("\r\n\(header.lowercased())\r\n")
                connection.write("HTTP/1.1 \(isGood ? 200 : 401) X\r\nContent-Length: 0\r\n\r\n")
            }
        }
    }

    @Test func `A custom token works with AuthenticationInterceptor`() async throws {
        let server = try server(accepting: "X-Client-Secret: two")
        let storage = TokenStorage<CustomHeaderToken>(
            storage: InMemoryStorage(), key: StorageKey(value: "custom_header_token"))
        try await storage.save(CustomHeaderToken(clientID: "abc", clientSecret: "one"))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { oldToken in
                guard let token = oldToken else { throw NetworkError.unauthorized }
                return CustomHeaderToken(clientID: token.clientID, clientSecret: "two")
            },
            shouldAuthenticate: { request in
                request.url?.path.hasPrefix("/api/") ?? false
            })
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/api/x")).status == 200)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/other")).status == 401)
        #expect(try await storage.load()?.clientSecret == "two")
    }

    @Test func `A custom token's own expiresAt is honoured`() async throws {
        let server = try server(accepting: "Authorization: Bearer new")
        let storage = TokenStorage<ExpiringToken>(storage: InMemoryStorage())
        try await storage.save(ExpiringToken(accessToken: "old", expiresAt: Date().addingTimeInterval(-1)))
        let interceptor = AuthenticationInterceptor(
            tokenStorage: storage,
            refreshStrategy: { _ in ExpiringToken(accessToken: "new", expiresAt: Date().addingTimeInterval(3600)) },
            shouldAuthenticate: { $0.url?.host == "127.0.0.1" })
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        var options = RequestOptions()
        let sent = Collected<Int>()
        options.onMetrics = { _ in sent.append(1) }
        #expect(try await provider.send(HTTPRequest(.get, server.url), options).status == 200)
        #expect(sent.values.count == 1)
    }

    @Test func `A custom interceptor finds the exchange as a task-local`() async throws {
        let server = try server(accepting: "X-Session: 2")
        let interceptor = SessionInterceptor()
        let provider = NetworkProvider(session: CurlSession(), interceptor: InterceptorChain([interceptor]))
        #expect(try await provider.send(HTTPRequest(.get, server.url)).status == 200)
        #expect(await interceptor.seen == ["attempt 1", "401 for 1", "attempt 2"])
    }

    @Test func `Errors are thrown, matched and compared by their short names`() {
        func thrown() throws { throw NetworkError.unauthorized }
        #expect(throws: NetworkError.unauthorized) { try thrown() }
        let errors: [NetworkError] = [
            .unauthorized, .timeout, .noConnection, .parsingError, .clientError(404), .serverError(500),
        ]
        let names = errors.map { error in
            switch error {
            case .unauthorized: "unauthorized"
            case .timeout: "timeout"
            case .noConnection: "no connection"
            case .parsingError: "parsing"
            case .clientError(let code, _, _): "client \(code)"
            case .serverError(let code, _, _): "server \(code)"
            default: "other"
            }
        }
        #expect(names == ["unauthorized", "timeout", "no connection", "parsing", "client 404", "server 500"])
        guard case .unauthorized = errors[0] else { return #expect(Bool(false)) }
        #expect(NetworkError.clientError(404) != .clientError(403))
    }
}
