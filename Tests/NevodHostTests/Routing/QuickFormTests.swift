import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

struct QuickFormTests {
    private struct User: Codable, Sendable, Equatable {
        let id: Int
    }

    private let server: ScriptedServer
    private let provider: NetworkProvider

    init() throws {
        server = try ScriptedServer { _ in .json(#"{"id": 1}"#) }
        let quick = NetworkProvider.quick(baseURL: server.url + "/v1")
        var config = quick.config
        config.encoder = TestJSON()
        config.decoder = TestJSON()
        provider = NetworkProvider(config: config)
    }

    private var seen: [String] {
        server.requests.map {
            "\($0.method) \($0.target) \($0["Content-Type"] ?? "-") \(String(decoding: $0.body, as: UTF8.self))"
        }
    }

    @Test func `Each method works with and without a body`() async throws {
        var users: [User] = []
        users.append(try await provider.get("/u", query: ["b": "2", "a": "1"]))
        users.append(try await provider.post("/u", body: ["n": "1"]))
        users.append(try await provider.post("/u", query: ["q": "1"], body: User(id: 2)))
        users.append(try await provider.post("/u"))
        users.append(try await provider.put("/u/1", body: ["n": "1"]))
        users.append(try await provider.put("/u/1", body: User(id: 3)))
        users.append(try await provider.patch("/u/1", body: ["n": "1"]))
        users.append(try await provider.patch("/u/1", body: User(id: 4)))
        users.append(try await provider.delete("/u/1", query: ["q": "1"]))
        let any: User = try await provider.request(
            .post, path: "/oauth/refresh", body: ["refresh_token": "r"], headers: ["X-A": "1"])
        users.append(any)
        users.append(try await provider.request(.options, path: "u", body: [1, 2]))
        #expect(users == Array(repeating: User(id: 1), count: 11))
        #expect(
            seen == [
                "GET /v1/u?a=1&b=2 - ", #"POST /v1/u application/json {"n":"1"}"#, #"POST /v1/u?q=1 application/json {"id":2}"#,
                "POST /v1/u - ", #"PUT /v1/u/1 application/json {"n":"1"}"#, #"PUT /v1/u/1 application/json {"id":3}"#,
                #"PATCH /v1/u/1 application/json {"n":"1"}"#, #"PATCH /v1/u/1 application/json {"id":4}"#,
                "DELETE /v1/u/1?q=1 - ", #"POST /v1/oauth/refresh application/json {"refresh_token":"r"}"#,
                "OPTIONS /v1/u application/json [1,2]",
            ])
        #expect(server.requests[9]["X-A"] == "1")
    }

    @Test func `Uploads send the file and report progress`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("x.bin", Array("from disk".utf8))
        let _: User = try await provider.upload("/f", filename: "d.pdf", fileData: [1], mimeType: "application/pdf")
        let _: User = try await provider.upload("/f", path: path, additionalFields: ["a": "b"])
        let _: User = try await provider.uploadImage("/f", filename: "a.gif", imageData: [2], imageType: .gif)
        let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies[0].contains(#"name="file"; filename="d.pdf""#))
        #expect(bodies[1].contains(#"name="file"; filename="x.bin""#) && bodies[1].contains("from disk"))
        #expect(bodies[2].contains(#"name="image"; filename="a.gif""#) && bodies[2].contains("image/gif"))
    }

    @Test func `A provider of routes has no default domain`() async throws {
        let error = await #expect(throws: NetworkError.self) {
            let _: User = try await NetworkProvider.test(server).get("/u")
        }
        #expect("\(String(describing: error))".contains("DefaultDomain"))
        #expect(server.requests.isEmpty)
    }
}
