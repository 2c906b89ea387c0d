import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct EndpointTests {
    private struct Item: Codable, Sendable, Equatable {
        var data: String
    }

    private func request(_ endpoint: Endpoint<some Decodable & Sendable>) throws -> HTTPRequest {
        try endpoint.makeRequest(with: NetworkConfig.endpoints(at: "http://h/v1"))
    }

    private func text(_ request: HTTPRequest) -> String? {
        guard case .bytes(let bytes) = request.body else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `Each method makes its request`() throws {
        let get = try request(Endpoint<[Item]>.get("/items", query: ["b": "2", "a": "1 2"]))
        #expect(get.method == .get && get.target == "/v1/items?b=2&a=1%202" && get.body.length == 0)
        let post = try request(Endpoint<Item>.post("/items", body: Item(data: "value"), headers: ["X-Kind": "new"]))
        #expect(post.method == .post && text(post) == #"{"data":"value"}"# && post.headers["X-Kind"] == "new")
        #expect(post.headers["Content-Type"] == "application/json")
        let put = try request(Endpoint<Item>.put("items/1", body: .raw([1, 2, 3][...])))
        #expect(put.method == .put && put.target == "/v1/items/1" && put.body.length == 3)
        #expect(put.headers["Content-Type"] == "application/octet-stream")
        let patch = try request(
            Endpoint<Item>.patch("/items/1", body: .raw(Array("<a/>".utf8)), headers: ["Content-Type": "text/xml"]))
        #expect(patch.method == .patch && text(patch) == "<a/>" && patch.headers["Content-Type"] == "text/xml")
        let delete = try request(Endpoint<EmptyResponse>.delete("/items/1"))
        #expect(delete.method == .delete && delete.body.length == 0 && !delete.headers.contains("Content-Type"))
        let options = try request(Endpoint<EmptyResponse>(.options, "/items"))
        #expect(options.method == .options)
    }

    @Test func `An endpoint can be changed`() throws {
        let base = Endpoint<Item>.post("/items/\("a b")", query: ["a": "1"], headers: ["X-Kind": "old", "X-Other": "1"])
        let changed = base.body(Item(data: "value")).header("X-KIND", "new").query("b", "2 3").query(["c": "4", "a": "5"])
            .auth(.bearerToken)
        let made = try request(changed)
        #expect(made.method == .post && made.target == "/v1/items/a%20b?a=1&b=2%203&c=4&a=5" && changed.auth == .bearerToken)
        #expect(text(made) == #"{"data":"value"}"# && made.headers["Content-Type"] == "application/json")
        #expect(made.headers.values(of: "X-Kind") == ["new"] && made.headers["X-Other"] == "1")
        #expect(try text(request(changed.body(.raw([0x61])))) == "a")
        let unchanged = try request(base)
        #expect(unchanged.target == "/v1/items/a%20b?a=1" && unchanged.headers["X-Kind"] == "old" && base.auth == .none)
        #expect(text(unchanged) == nil)
        // The copy also rejects an empty value in the path.
        #expect(throws: NetworkError.invalidURL) { try request(Endpoint<Item>.get("/items/\("")").header("X-Kind", "new")) }
        #expect(throws: NetworkError.self) { try request(base.header("X Kind", "new")) }
    }

    @Test func `An endpoint can be read, as a mock does`() throws {
        let endpoint = Endpoint<Item>.post("/items/\(7)", body: Item(data: "value"), auth: .bearerToken)
        #expect(endpoint.path == "/items/7" && endpoint.method == .post && endpoint.auth == .bearerToken)
        guard case .json(let body) = endpoint.body else { throw NetworkError.bodyEncodingFailed }
        #expect(body as? Item == Item(data: "value"))
        let login = Endpoint<Item>.post("/login")
        #expect(login.auth == .none && login.auth != .bearerToken)
        #expect((login as any Route).auth == AuthRequirement.none)
    }

    @Test func `Any provider with a default domain sends an endpoint`() async throws {
        let server = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"data\":\"one\"}")
        let provider = NetworkProvider(config: .endpoints(at: server.url))
        let client: any HTTPClient = provider
        #expect(try await client.send(Endpoint<Item>.get("/x")) == Item(data: "one"))
        #expect(try await client.response(for: Endpoint<Item>.get("/x")).status == 200)
    }

    /// A value that leaves its segment could name another resource, with the token of this user.
    @Test(arguments: [
        ("7", "/v1/sports/7/days"), ("a/b", "/v1/sports/a%2Fb/days"), ("a?b=c#d", "/v1/sports/a%3Fb%3Dc%23d/days"),
        ("ż%2F", "/v1/sports/%C5%BC%252F/days"), ("a b;c\r\n", "/v1/sports/a%20b%3Bc%0D%0A/days"),
        (#"\..\"#, #"/v1/sports/%5C..%5C/days"#),
    ])
    func `An interpolated value stays in its segment`(value: String, target: String) throws {
        let endpoint = Endpoint<EmptyResponse>.get("/sports/\(value)/days")
        guard !value.contains("..") else {
            #expect(throws: NetworkError.invalidURL) { try request(endpoint) }
            return
        }
        #expect(try request(endpoint).target == target)
        let literal = Endpoint<EmptyResponse>.get("/search?q=\(value)&page=1")
        #expect(try request(literal).target.hasSuffix("&page=1"))
        #expect(try request(literal).target.filter { $0 == "&" || $0 == "?" }.count == 2)
    }

    @Test(arguments: ["", ".", ".."]) func `An interpolated value that names another segment is refused`(value: String) throws {
        let error = #expect(throws: NetworkError.self) { try request(Endpoint<EmptyResponse>.delete("/sports/\(value)")) }
        #expect(error == .invalidURL)
        #expect("\(String(describing: error))".contains(value.isEmpty ? "is empty" : "segment"))
        let base: EndpointPath = "/sports/\(value)"
        #expect(throws: NetworkError.invalidURL) { try request(Endpoint<EmptyResponse>.delete("\(base)/days")) }
    }

    @Test func `A path from elsewhere, and a common beginning, are kept as they are`() throws {
        let base: EndpointPath = "/a%2Fb"
        #expect(try request(Endpoint<EmptyResponse>.get("\(base)/c")).target == "/v1/a%2Fb/c")
        #expect(try request(Endpoint<EmptyResponse>.get(EndpointPath(encoded: "/a/b%20c"))).target == "/v1/a/b%20c")
    }

    @Test func `A template has no value`() throws {
        let base: EndpointPath = "/users/\("ada")"
        let cases: [(path: EndpointPath, template: String?)] = [
            ("/users", "/users"), ("/users/\(7)/posts/\("x{}")", "/users/{}/posts/{}"), ("\(base)/posts", "/users/{}/posts"),
            ("/search?q=\("secret")", "/search"), ("/search/\("a?b")?q=1", "/search/{}"), ("/\(7)?x=\("?")", "/{}"), ("", ""),
            (EndpointPath(encoded: "/users/7"), nil), ("\(EndpointPath(encoded: "/users/7"))/posts", "{}/posts"),
        ]
        for (path, template) in cases {
            #expect(path.template == template)
            if path.isComplete, !path.text.isEmpty {
                #expect(try request(Endpoint<EmptyResponse>.get(path)).route?.template == template)
            }
        }
        #expect(EndpointPath(encoded: "/users") == "/users" && Set<EndpointPath>([EndpointPath(encoded: "/a"), "/a"]).count == 1)
    }

    @Test func `A form has its fields before its file`() async throws {
        let form = MultipartFormData(
            fileData: "data".utf8, fileName: "a.txt", mimeType: "text/plain", fieldName: "upload", fields: ["b": "1", "a": "2"])
        let made = try request(Endpoint<EmptyResponse>.uploadMultipart("/upload", multipart: form, method: .put))
        #expect(made.method == .put && made.headers["Content-Type"]?.hasPrefix("multipart/form-data; boundary=") == true)
        guard case .stream(let stream) = made.body else { throw NetworkError.bodyEncodingFailed }
        let reader = try stream.makeReader()
        var bytes: [UInt8] = []
        while case let piece = try await reader.read(upTo: 1024), !piece.isEmpty { bytes += piece }
        let text = String(decoding: bytes, as: UTF8.self)
        let heads = text.split(separator: "\r\n").filter { $0.hasPrefix("Content-Disposition") }.map { $0.dropFirst(32) }
        #expect(heads == [#"name="b""#, #"name="a""#, #"name="upload"; filename="a.txt""#])
        #expect(text.contains("Content-Type: text/plain\r\n\r\ndata\r\n"))
    }
}

extension NetworkConfig {
    fileprivate static func endpoints(at url: String) -> NetworkConfig {
        NetworkConfig(
            environments: [DefaultDomain.default: SimpleEnvironment(baseURL: url)], encoder: TestJSON(), decoder: TestJSON())
    }
}
