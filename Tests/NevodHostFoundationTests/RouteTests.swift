import Foundation
import NevodHost
import NevodHostFoundation
import NevodSupport
import NevodTestSupport
import Testing

/// Programs that use Foundation, in Nevod's spelling.
struct RouteTests {
    private enum MyDomain: ServiceDomain {
        case api

        var identifier: String { "api" }
    }

    private struct Post: Codable, Equatable {
        let id: Int
    }

    private struct OwnDecoder: Route {
        let domain = MyDomain.api
        let endpoint = "/x"
        let method = HTTPMethod.get
        let parameters: [String: String]? = nil

        func decode(_ data: Data, using decoder: JSONDecoder) throws -> Post {
            try decoder.decode(Post.self, from: data)
        }
    }

    private struct DataRoute: Route {
        typealias Response = Data
        typealias Domain = MyDomain
        let domain = MyDomain.api
        let endpoint = "/x"
        let method = HTTPMethod.get
        let parameters: [String: String]? = nil
    }

    private struct CreatePost: EncodableRoute {
        typealias Response = Post
        typealias Domain = MyDomain
        typealias Body = Post

        let domain = MyDomain.api
        let endpoint = "/x"
        let method = HTTPMethod.post
        let body: Post?
        var bodyEncoder: JSONEncoder { JSONEncoder() }
    }

    private let body = #"{"id":7}"#
    private let server: RawServer
    private let url: URL
    private let seen = Collected<RawConnection.Request>()

    init() throws {
        let (seen, body) = (seen, body)
        server = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                seen.append(request)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            }
        }
        url = try #require(URL(string: server.url + "/v1"))
    }

    private func environments() -> [MyDomain: any NetworkEnvironmentProviding] {
        [MyDomain.api: SimpleEnvironment(baseURL: url)]
    }

    @Test func `A configuration takes its timeout in seconds or as a duration`() {
        #expect(NetworkConfig(environments: environments()).timeout == .seconds(30))
        #expect(NetworkConfig(environments: environments(), timeout: 5).timeout == .seconds(5))
        #expect(NetworkConfig(environments: environments(), timeout: 0.5).timeout == .milliseconds(500))
        #expect(NetworkConfig(environments: environments(), timeout: .seconds(7)).timeout == .seconds(7))
        #expect(NetworkConfig(environments: environments(), timeout: nil).timeout == nil)
        for config in [
            NetworkConfig(environments: environments()), NetworkConfig(environments: environments(), timeout: .seconds(7)),
        ] {
            #expect(config.encoder is JSONEncoder && config.decoder is JSONDecoder)
        }
    }

    @Test func `Routes take and return Foundation's types`() async throws {
        let provider = NetworkProvider(config: NetworkConfig(environments: environments(), timeout: 30))
        #expect(try await provider.perform(OwnDecoder()) == Post(id: 7))
        #expect(try await provider.perform(DataRoute()) == Data(body.utf8))
        #expect(try await provider.perform(SimpleGetRoute<Data, MyDomain>(endpoint: "/x", domain: .api)) == Data(body.utf8))
        #expect(try await provider.perform(CreatePost(body: Post(id: 7))) == Post(id: 7))
        let route = EncodablePostRoute<Post, Post, MyDomain>(
            endpoint: "/x", domain: .api, body: Post(id: 7), encoder: JSONEncoder())
        #expect(try await provider.perform(route) == Post(id: 7))
        #expect(seen.values.suffix(2).allSatisfy { $0.body == Array(body.utf8) && $0.head.contains("application/json") })
        let parts = [
            FormDataPart(name: "title", data: Data("My Title".utf8), mimeType: "text/plain"),
            FormDataPart(name: "file", filename: "doc.pdf", data: Data([1, 2]), mimeType: "application/pdf"),
        ]
        _ = try await provider.perform(MultipartRoute<Post, MyDomain>(endpoint: "/upload", domain: .api, parts: parts))
    }

    @Test func `The quick forms encode the body and decode the response`() async throws {
        for provider in [
            NetworkProvider.quick(baseURL: url), NetworkProvider.quick(baseURL: url, timeout: 30),
            NetworkProvider.quick(baseURL: server.url + "/v1", timeout: .seconds(30)),
        ] {
            let got: Post = try await provider.get("/posts/7")
            let posted: Post = try await provider.post("/posts", body: Post(id: 7))
            let pairs: Post = try await provider.post("/posts", body: ["id": "7"])
            let data: Data = try await provider.get("/posts/7")
            #expect([got, posted, pairs] == Array(repeating: Post(id: 7), count: 3) && data == Data(body.utf8))
        }
        let provider = NetworkProvider.quick(baseURL: url, jsonDecoder: JSONDecoder())
        let uploaded: Post = try await provider.upload("/u", filename: "a", fileData: Data([1]), mimeType: "text/plain")
        #expect(uploaded == Post(id: 7))
        #expect(seen.values.first?.head.hasPrefix("GET /v1/posts/7 HTTP/1.1\r\n") == true)
    }

    @Test func `Errors match the patterns that the guides show`() async throws {
        let provider = NetworkProvider.quick(baseURL: url)
        do {
            let _: [Post] = try await provider.get("/posts")
            Issue.record("it isn't an array")
        } catch let error as NetworkError {
            switch error {
            case .parsingError: #expect(error.responseData == Data(body.utf8))
            default: Issue.record("\(error)")
            }
        }
    }
}
