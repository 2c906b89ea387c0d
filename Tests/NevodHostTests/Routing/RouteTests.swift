import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct RouteTests {
    private struct Post: Decodable, Equatable {
        let id: Int
    }

    private struct GetUserPostsRoute: Route {
        typealias Response = [Post]
        typealias Domain = Service

        let userId: Int

        var domain: Service { .api }
        var endpoint: String { "/users/\(userId)/posts" }
        var method: HTTPMethod { .get }
        var parameters: [String: String]? {
            ["limit": "10", "after": "3"]
        }
    }

    /// A route that decodes the response itself, with its own decoder.
    private struct Own<Decoder>: Route {
        var domain: Service { .api }
        var endpoint: String { "/own" }
        var method: HTTPMethod { .get }
        func decode(_ data: ContiguousArray<UInt8>, using decoder: Decoder) throws -> Int { data.count }
    }

    private struct NotDecodable: Route {
        typealias Response = Taken
        struct Taken: UndecodedBody {
            let count: Int
            init(undecodedBody body: [UInt8]) { count = body.count }
        }
        var domain: Service { .api }
        var endpoint: String { "/taken" }
        var method: HTTPMethod { .get }
    }

    private func request(_ route: some Route) throws -> HTTPRequest {
        try route.makeRequest(with: NetworkProvider.test("http://h/v1").config)
    }

    private func text(_ request: HTTPRequest) -> String? {
        guard case .bytes(let bytes) = request.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `A custom route is sent as it says`() async throws {
        let server = try ScriptedServer { _ in .json(#"[{"id": 7}]"#) }
        let posts = try await NetworkProvider.test(server).perform(GetUserPostsRoute(userId: 123))
        #expect(posts == [Post(id: 7)])
        #expect(server.requests.map(\.method) == ["GET"])
        #expect(server.requests.map(\.target) == ["/users/123/posts?after=3&limit=10"])
    }

    @Test func `A route may decode its own response`() async throws {
        let provider = NetworkProvider.test(try ScriptedServer { _ in .json("12345") })
        #expect(try await provider.perform(Own<any BodyDecoder>()) == 5)
        #expect(try await provider.perform(Own<TestJSON>()) == 5)
        #expect(try await provider.perform(NotDecodable()).count == 5)
        let error = await #expect(throws: NetworkError.self) { try await provider.perform(Own<MissingCoder>()) }
        #expect("\(String(describing: error))".contains("MissingCoder, but the configuration's is a TestJSON"))
    }

    @Test func `Each method puts its parameters in the query or in the body`() throws {
        let parameters = ["b": "2", "a": "1"]
        let get = try request(SimpleGetRoute<[Post], Service>(endpoint: "/x", domain: .api, parameters: parameters))
        #expect(get.method == .get && get.target == "/v1/x?a=1&b=2" && get.body.length == 0)
        let post = try request(SimplePostRoute<[Post], Service>(endpoint: "/x", domain: .api, parameters: parameters))
        #expect(post.method == .post && post.target == "/v1/x" && text(post) == #"{"a":"1","b":"2"}"#)
        let put = try request(SimplePutRoute<[Post], Service>(endpoint: "/x", domain: .api, parameters: parameters))
        #expect(put.method == .put && text(put) == #"{"a":"1","b":"2"}"#)
        let patch = try request(SimplePatchRoute<[Post], Service>(endpoint: "/x", domain: .api, parameters: parameters))
        #expect(patch.method == .patch && text(patch) == #"{"a":"1","b":"2"}"#)
        let delete = try request(SimpleDeleteRoute<[Post], Service>(endpoint: "/x", domain: .api))
        #expect(delete.method == .delete && delete.target == "/v1/x" && delete.body.length == 0)
        #expect(!delete.headers.contains("Content-Type"))
        let both = try request(
            SimplePostRoute<[Post], Service>(
                endpoint: "/x", domain: .api, queryParameters: ["q": "1"], bodyParameters: ["b": "2"]))
        #expect(both.target == "/v1/x?q=1" && text(both) == #"{"b":"2"}"#)
        let ordered = try request(
            SimpleGetRoute<[Post], Service>(
                endpoint: "/x", domain: .api, queryList: ["z": "1"], parameterList: ["b": "", "a": ""]))
        #expect(ordered.target == "/v1/x?z=1&b=&a=")
        let silent = try request(
            SimplePostRoute<[Post], Service>(
                endpoint: "/x", domain: .api, parameters: parameters, parameterEncoding: ParameterEncoding.none))
        #expect(silent.target == "/v1/x" && silent.body.length == 0 && !silent.headers.contains("Content-Type"))
    }

    @Test func `Headers are sorted, and replace the body's own type`() throws {
        let route = SimplePostRoute<[Post], Service>(
            endpoint: "/x", domain: .api, parameters: ["a": "1"],
            headers: ["X-B": "2", "X-D": "4", "content-type": "application/vnd.api+json", "X-A": "1", "X-E": "5", "X-C": "3"])
        let lines = try request(route).headers.map { "\($0.name): \($0.value)" }
        #expect(lines == ["content-type: application/vnd.api+json", "X-A: 1", "X-B: 2", "X-C: 3", "X-D: 4", "X-E: 5"])
        let wrong = SimpleGetRoute<[Post], Service>(endpoint: "/x", domain: .api, headers: ["X": "1\r\nY: 2"])
        let error = #expect(throws: NetworkError.self) { try request(wrong) }
        if case .invalidRequest = error {} else { Issue.record("\(String(describing: error))") }
    }

    @Test func `A domain without an environment is named`() throws {
        let error = #expect(throws: NetworkError.self) {
            try request(SimpleGetRoute<[Post], Service>(endpoint: "/x", domain: .cdn))
        }
        guard case .invalidURL(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.problem == #"the configuration has no environment for the domain "cdn" (Service)"#)
    }

    private enum Namesake: ServiceDomain {
        case api
        var identifier: String { "api" }
    }

    @Test func `Several types of domain in one configuration`() throws {
        var config = NetworkProvider.test("http://h").config
        config.setEnvironment(SimpleEnvironment(baseURL: "http://other"), for: DefaultDomain.default)
        let route = SimpleGetRoute<[Post], DefaultDomain>(endpoint: "/x", domain: .default)
        #expect(try route.makeRequest(with: config).url == "http://other/x")
        #expect(config.environment(for: Namesake.api) == nil)
        #expect(try SimpleGetRoute<[Post], Service>(endpoint: "/x", domain: .api).makeRequest(with: config).url == "http://h/x")
    }

    // MARK: Encodable bodies

    private struct Body: Encodable, Sendable {
        let name: String
        let tags: [String]
    }

    private struct Marked: BodyEncoder {
        var contentType: String { "text/marked" }
        func body(of value: some Encodable) throws -> [UInt8] { [0x2A] + (try TestJSON().body(of: value)) }
    }

    private struct OwnEncodable: EncodableRoute {
        typealias Response = EmptyResponse
        var domain: Service { .api }
        var endpoint: String { "/own" }
        var method: HTTPMethod { .put }
        let body: Body?
        var bodyEncoder: Marked { Marked() }
    }

    @Test func `A value is sent as an encoded body`() throws {
        let body = Body(name: "ø", tags: ["a"])
        let route = EncodablePostRoute<Body, [Post], Service>(
            endpoint: "/x", domain: .api, queryParameters: ["n": "1"], body: body, headers: ["X-A": "1"])
        let post = try request(route)
        #expect(post.method == .post && post.target == "/v1/x?n=1" && text(post) == #"{"name":"ø","tags":["a"]}"#)
        #expect(post.headers["Content-Type"] == "application/json" && post.headers["X-A"] == "1")
        let put = try request(
            EncodablePutRoute<Body, [Post], Service>(endpoint: "/x", domain: .api, body: body, encoder: Marked()))
        #expect(put.method == .put && text(put) == #"*{"name":"ø","tags":["a"]}"# && put.headers["Content-Type"] == "text/marked")
        let patch = try request(EncodablePatchRoute<Body, [Post], Service>(endpoint: "/x", domain: .api))
        #expect(patch.method == .patch && patch.body.length == 0 && !patch.headers.contains("Content-Type"))
        #expect(try text(request(OwnEncodable(body: Body(name: "", tags: [])))) == #"*{"name":"","tags":[]}"#)
    }

    @Test func `The error for a missing encoder says so`() throws {
        let config = NetworkConfig(environments: [Service.api: SimpleEnvironment(baseURL: "http://h")])
        let error = #expect(throws: NetworkError.self) {
            try EncodablePostRoute<Body, [Post], Service>(endpoint: "/x", domain: .api, body: Body(name: "", tags: []))
                .makeRequest(with: config)
        }
        guard case .bodyEncodingFailed(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect("\(reason)".hasPrefix("the configuration has no encoder;"))
    }
}
