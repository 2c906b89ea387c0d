import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct RouteRequestTests {
    private struct User: Decodable, Equatable {
        let id: Int
    }

    private let user = SimpleGetRoute<User, Service>(endpoint: "/users/me", domain: .api)

    private func failure(_ response: ScriptedServer.Response) async throws -> NetworkError? {
        let server = try ScriptedServer { _ in response }
        guard case .failure(let error) = await NetworkProvider.test(server).request(user) else { return nil }
        return error
    }

    @Test func `A response is decoded, or returned as it is`() async throws {
        let provider = NetworkProvider.test(try ScriptedServer { _ in .json(#"{"id": 1}"#) })
        #expect(try await provider.perform(user) == User(id: 1))
        #expect(try await provider.perform(SimpleGetRoute<String, Service>(endpoint: "", domain: .api)) == #"{"id": 1}"#)
        let bytes = try await provider.perform(SimpleGetRoute<[UInt8], Service>(endpoint: "", domain: .api))
        #expect(bytes == Array(#"{"id": 1}"#.utf8))
        #expect(try await provider.data(for: user) == bytes)
        let response = try await provider.response(for: user)
        #expect(response.status == 200 && response.headers["Content-Length"] == "9")
        let result = await provider.request(user)
        #expect(try result.get() == User(id: 1))
    }

    @Test func `A response without content is a success`() async throws {
        let provider = NetworkProvider.test(try ScriptedServer { _ in .init(status: 204) })
        #expect(
            try await provider.perform(SimpleDeleteRoute<EmptyResponse, Service>(endpoint: "/x", domain: .api)) == EmptyResponse()
        )
    }

    @Test func `A refusal is an error with the status, the body and the response`() async throws {
        let error = try await failure(.init(status: 422, headers: ["X-Why: y"], body: #"{"id": 3}"#))
        guard case .clientError(422, let data, let response) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(data == Array(#"{"id": 3}"#.utf8) && response?.headers["X-Why"] == "y")
        #expect(try error?.decode(User.self, using: TestJSON()) == User(id: 3))
        #expect(try await failure(.init(status: 401))?.statusCode == 401)
        #expect(try await failure(.init(status: 503))?.statusCode == 503)
        // A redirect without a target.
        if case .unexpectedStatus(304, _, _)? = try await failure(.init(status: 304)) {} else { Issue.record("304") }
    }

    @Test func `A body that can't be decoded is kept in the error`() async throws {
        let error = try await failure(.json(#"{"name": 1}"#))
        guard case .parsingError(let reason, let data, let response) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason is DecodingError && data == Array(#"{"name": 1}"#.utf8) && response?.status == 200)
    }

    @Test func `A text that is not UTF-8 is no String`() {
        let error = #expect(throws: (any Error).self) { try String(undecodedBody: [0xFF]) }
        #expect("\(error as Any)".contains("UTF-8"))
    }

    @Test func `The error for a missing decoder says so`() async throws {
        let server = try ScriptedServer { _ in .json("{}") }
        defer { withExtendedLifetime(server) {} }
        let config = NetworkConfig(environments: [Service.api: SimpleEnvironment(baseURL: server.url)])
        let error = await #expect(throws: NetworkError.self) { try await NetworkProvider(config: config).perform(user) }
        #expect("\(String(describing: error))".contains("the configuration has no decoder;"))
    }

    @Test func `Options apply to one request`() async throws {
        let server = try RawServer { connection, _ in _ = connection.waitForEnd() }
        let error = await #expect(throws: NetworkError.self) {
            try await NetworkProvider.test(server).perform(user, options: RequestOptions(timeout: .milliseconds(50)))
        }
        if case .timeout = error {} else { Issue.record("\(String(describing: error))") }
        let large = try ScriptedServer { _ in .json("[1, 2, 3]") }
        let limited = await #expect(throws: NetworkError.self) {
            let options = RequestOptions(delivery: .collected(limit: 4))
            return try await NetworkProvider.test(large).data(for: user, options: options)
        }
        if case .invalidResponse = limited {} else { Issue.record("\(String(describing: limited))") }
    }

    @Test func `Responses and errors can be streamed`() async throws {
        var options = RequestOptions()
        options.delivery = .streamed
        let provider = NetworkProvider.test(try ScriptedServer { _ in .json(#"{"id": 1}"#) })
        guard case .stream(let stream) = try await provider.response(for: user, options: options).body else {
            Issue.record("it is not streamed")
            return
        }
        #expect(try await stream.next() == Array(#"{"id": 1}"#.utf8))
        #expect(try await provider.perform(user, options: options) == User(id: 1))
        let refusing = NetworkProvider.test(try ScriptedServer { _ in .init(status: 404, body: "no such user") })
        let error = await #expect(throws: NetworkError.self) { try await refusing.response(for: user, options: options) }
        #expect(error?.responseString == "no such user")
    }

    /// Records the thread on which it decodes.
    private struct Telling: Route {
        var domain: Service { .api }
        var endpoint: String { "/x" }
        var method: HTTPMethod { .get }
        func decode(_ data: [UInt8], using decoder: any BodyDecoder) throws -> UInt { UInt(pthread_self()) }
    }

    @Test func `Decoding doesn't block the network's thread`() async throws {
        let provider = NetworkProvider.test(try ScriptedServer())
        let transport = Collected<UInt>()
        var options = RequestOptions()
        options.onMetrics = { _ in transport.append(UInt(pthread_self())) }
        for _ in 0..<5 {
            let decoding = try await provider.perform(Telling(), options: options)
            #expect(!transport.values.contains(decoding))
        }
        #expect(transport.values.count == 5)
    }
}
