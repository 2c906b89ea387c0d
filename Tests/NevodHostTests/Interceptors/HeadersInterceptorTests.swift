import NevodTestSupport
import Testing

@testable import NevodHost

struct HeadersInterceptorTests {
    private func adapted(_ headers: [String: String], _ given: [(String, String)] = []) async throws -> [String] {
        var exchange = Exchange(request: try HTTPRequest(.get, "http://h/"), options: TransferOptions(), attempt: 1)
        for (name, value) in given { try exchange.request.addHeader(name, value) }
        try await HeadersInterceptor(headers: headers).adapt(&exchange)
        return exchange.request.headers.map { "\($0.name): \($0.value) (\($0.provenance))" }
    }

    @Test func `Headers that the request lacks are added`() async throws {
        #expect(try await adapted(["A": "1"]) == ["A: 1 (caller)"])
        #expect(
            try await adapted(["A": "1", "B": "2", "C": "3"]).sorted() == ["A: 1 (caller)", "B: 2 (caller)", "C: 3 (caller)"])
    }

    @Test func `A header that the request has stays, with any case and value`() async throws {
        #expect(
            try await adapted(["accept": "1"], [("Accept", "mine"), ("Accept", "also")]) == [
                "Accept: mine (caller)", "Accept: also (caller)",
            ])
        #expect(try await adapted(["Accept": "1"], [("ACCEPT", "")]) == ["ACCEPT:  (caller)"])
    }

    @Test func `A header that can't be sent is refused`() async {
        let broken = await #expect(throws: InvalidRequestError.self) { try await adapted(["A": "1\r\nB: 2"]) }
        #expect(broken?.part == .header("A"))
        let framing = await #expect(throws: InvalidRequestError.self) { try await adapted(["Content-Length": "1"]) }
        #expect(framing?.part == .header("Content-Length"))
    }

    /// The signed bytes must be the same in every process that replays them.
    @Test func `The order is the same for every interceptor of the same headers`() async throws {
        let names = (0..<20).map { "X-\($0)" }
        let forward = try await adapted(Dictionary(uniqueKeysWithValues: names.map { ($0, "v") }))
        var other = [String: String](minimumCapacity: 500)
        for name in names.reversed() { other[name] = "v" }
        let backward = try await adapted(other)
        #expect(forward == backward)
    }

    /// Redirects over real HTTP to another port, which is another origin.
    @Test func `A secret by its name doesn't follow a redirect to another origin; the rest does`() async throws {
        let seen = Collected<String>()
        let other = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                seen.append(request.head)
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let first = try RawServer { connection, _ in
            while let request = connection.readRequest() {
                seen.append(request.head)
                connection.write("HTTP/1.1 307 There\r\nLocation: \(other.url)/\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let interceptor = HeadersInterceptor(headers: ["X-API-Key": "k", "X-Auth-Token": "t", "User-Agent": "MyApp/1.0"])
        let provider = NetworkProvider(session: CurlSession(), interceptor: interceptor)
        #expect(try await provider.send(HTTPRequest(.get, first.url)).status == 200)
        let heads = seen.values
        #expect(heads.count == 2)
        for name in ["X-API-Key: k", "X-Auth-Token: t"] {
            #expect(heads[0].contains(name))
            #expect(!heads[1].contains(name))
        }
        #expect(heads.allSatisfy { $0.contains("User-Agent: MyApp/1.0") })
    }
}
