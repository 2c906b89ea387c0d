import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// Tests which response a request selects, what invalidates a response, and which requests bypass the cache.
@Suite(.eachCache) struct CachingSessionTests {
    private let fresh = ["Cache-Control: max-age=60"]

    // MARK: Vary (RFC 9111 §4.1)

    @Test func `One response is stored for each variant`() async throws {
        let fixture = try CacheFixture(fresh + ["Vary: Accept-Language, X-Two"])
        #expect(try await fixture.get("/", ["Accept-Language: de"]) == "1")
        #expect(try await fixture.get("/", ["Accept-Language: en"]) == "2")
        #expect(try await fixture.get("/", ["Accept-Language: de"]) == "1")
        #expect(try await fixture.get("/", ["accept-language: en", "X-Unnamed: 1"]) == "2")
        #expect(try await fixture.get("/", ["Accept-Language: de", "X-Two: 1"]) == "3")
        #expect(try await fixture.get() == "4")
        #expect(try await fixture.get("/", ["Accept-Language: "]) == "5")
        #expect(await fixture.store.count == 5)
    }

    @Test func `Several Vary lines are read as one list`() async throws {
        let fixture = try CacheFixture(fresh + ["Vary: A", "Vary: B"])
        #expect(try await fixture.get("/", ["A: 1", "A: 2", "B: 3"]) == "1")
        #expect(try await fixture.get("/", ["B: 3", "A: 1, 2"]) == "1")
        #expect(try await fixture.get("/", ["A: 2, 1", "B: 3"]) == "2")
        #expect(try await fixture.get("/", ["A: 1, 2"]) == "3")
    }

    @Test func `The most recent of several matching responses is served`() async throws {
        let fixture = try CacheFixture { number, _, _ in
            CannedResponse(lines: fresh + (number == 1 ? [] : ["Vary: A"]), body: "\(number)")
        }
        #expect(try await fixture.get() == "1")
        fixture.clock.advance(1)
        #expect(try await fixture.get("/", ["A: 1", "Cache-Control: no-cache"]) == "2")
        #expect(try await fixture.get("/", ["A: 1"]) == "2")
    }

    // MARK: Keys

    @Test func `Targets, hosts and origins are kept apart`() async throws {
        let fixture = try CacheFixture(fresh)
        let other = try CacheFixture(fresh)
        #expect(try await fixture.get("/a") == "1")
        #expect(try await fixture.get("/a?") == "2")
        #expect(try await fixture.get("/a?x") == "3")
        #expect(try await fixture.get("/a", ["Host: other"]) == "4")
        #expect(try await fixture.get("/a", ["Host: \(fixture.server.authority)"]) == "1")
        let shared = fixture.store.session(CurlSession(), nil, fixture.clock.clock)
        let response = try await shared.send(HTTPRequest(.get, "\(other.server.url)/a"), TransferOptions())
        #expect(try await response.body.collect() == Array("1".utf8))
        #expect((fixture.requests.count, other.requests.count) == (4, 1))
    }

    // MARK: Methods

    @Test func `A HEAD is served from a stored GET, and stores nothing itself`() async throws {
        let fixture = try CacheFixture(fresh)
        #expect(try await fixture.send(.head).status == 200)
        #expect(await fixture.store.count == 0)
        #expect(try await fixture.get() == "2")
        let head = try await fixture.send(.head)
        #expect(try await head.body.collect() == [])
        #expect(head.headers["Content-Length"] == "1")
        #expect(fixture.requests.count == 2)
        fixture.clock.advance(60)
        _ = try await fixture.send(.head)
        #expect(fixture.requests.count == 3)
        #expect(await fixture.store.count == 1)
    }

    @Test(arguments: ["OPTIONS", "PUT", "TRACE", "POST", "QUERY"])
    func `Responses to methods other than GET are never stored`(method: String) async throws {
        let fixture = try CacheFixture(fresh)
        for _ in 0..<2 { _ = try await fixture.send(HTTPMethod(validating: method)) }
        #expect(fixture.requests.count == 2)
        #expect(await fixture.store.count == 0)
    }

    @Test func `A GET with content bypasses the cache`() async throws {
        let fixture = try CacheFixture(fresh)
        _ = try await fixture.get()
        var request = try fixture.request(.get, "/", [])
        request.body = .bytes([1])
        _ = try await fixture.session.send(request, TransferOptions())
        #expect(fixture.requests.count == 2)
    }

    // MARK: Invalidation (RFC 9111 §4.4)

    /// Returns whether the cache still responds to a GET of a path after a request with this method got this response.
    private func survives(
        _ method: String, _ status: Int, _ lines: [String] = [], path: String = "/a"
    ) async throws -> Bool {
        let fixture = try CacheFixture { number, head, _ in
            head.hasPrefix("GET") ? CannedResponse(lines: fresh, body: "\(number)") : CannedResponse(status: status, lines: lines)
        }
        _ = try await fixture.get(path)
        _ = try await fixture.send(HTTPMethod(validating: method), "/a")
        _ = try await fixture.get(path)
        return fixture.requests.count == 2
    }

    @Test func `An unsafe request invalidates the stored responses of its target`() async throws {
        for method in ["POST", "PUT", "PATCH", "DELETE", "UNHEARD-OF"] {
            #expect(try await !survives(method, 200), "\(method)")
        }
        #expect(try await !survives("POST", 303))
        for status in [400, 404, 500] { #expect(try await survives("POST", status), "\(status)") }
        for method in ["OPTIONS", "TRACE"] { #expect(try await survives(method, 200), "\(method)") }
        #expect(try await survives("POST", 200, path: "/b"))
    }

    @Test func `An unsafe request invalidates the same-origin targets that its response names`() async throws {
        for field in ["Location", "Content-Location"] {
            #expect(try await !survives("POST", 201, ["\(field): /b"], path: "/b"))
            #expect(try await !survives("POST", 201, ["\(field): b"], path: "/b"))
            #expect(try await survives("POST", 404, ["\(field): /b"], path: "/b"))
        }
    }

    @Test func `An unsafe request invalidates nothing on another origin`() async throws {
        let other = try CacheFixture(fresh)
        let location = "Location: \(other.server.url)/b"
        let fixture = try CacheFixture(store: other.store) { _, _, _ in CannedResponse(status: 201, lines: [location]) }
        #expect(try await other.get("/b") == "1")
        _ = try await fixture.send(.post)
        #expect(try await other.get("/b") == "1")
    }

    @Test func `An unsafe request whose response is lost invalidates as well`() async throws {
        let fixture = try CacheFixture { number, head, _ in
            head.hasPrefix("GET") ? CannedResponse(lines: fresh, body: "\(number)") : nil
        }
        _ = try await fixture.get()
        let error = await #expect(throws: TransportError.self) { try await fixture.send(.post) }
        #expect(error?.code == .connectionLost)
        #expect(try await fixture.get() != "1")
    }

    @Test func `A response that was in flight during an invalidation is not stored`() async throws {
        let (isAsked, isChanged) = (Latch(), Latch())
        let fixture = try CacheFixture { number, head, _ in
            guard head.hasPrefix("GET") else { return CannedResponse() }
            if number == 1 {
                isAsked.set()
                isChanged.waitOnThread()
            }
            return CannedResponse(lines: fresh, body: "\(number)")
        }
        async let old = fixture.get()
        await isAsked.wait()
        _ = try await fixture.send(.put)
        isChanged.set()
        #expect(try await old == "1")
        #expect(try await fixture.get() == "3")
        #expect(try await fixture.get() == "3")
    }

    @Test func `Clearing the cache covers responses in flight`() async throws {
        let (isAsked, isForgotten) = (Latch(), Latch())
        let fixture = try CacheFixture { number, head, _ in
            if head.contains("/slow") {
                isAsked.set()
                isForgotten.waitOnThread()
            }
            return CannedResponse(lines: fresh, body: "\(number)")
        }
        _ = try await fixture.get()
        async let slow = fixture.get("/slow")
        await isAsked.wait()
        try await fixture.store.removeAll()
        isForgotten.set()
        #expect(try await slow == "2")
        #expect(await (fixture.store.count, fixture.store.byteCount) == (0, 0))
    }

    // MARK: Bounds and delivery

    @Test func `A streamed response bypasses the cache`() async throws {
        let fixture = try CacheFixture(fresh)
        for expected in ["1", "2"] {
            let streamed = try await fixture.session.send(fixture.request(.get, "/", []), TransferOptions(delivery: .streamed))
            #expect(String(decoding: try await streamed.body.collect(), as: UTF8.self) == expected)
        }
        #expect(await fixture.store.count == 0)
    }

    @Test func `The caller's body limit applies to a stored response`() async throws {
        let fixture = try CacheFixture { _, _, _ in CannedResponse(lines: fresh, body: "12345") }
        _ = try await fixture.get()
        let request = try fixture.request(.get, "/", [])
        let error = await #expect(throws: TransportError.self) {
            try await fixture.session.send(request, TransferOptions(delivery: .collected(limit: 4)))
        }
        #expect(error?.code == .bodyTooLarge(limit: 4))
        _ = try await fixture.session.send(request, TransferOptions(delivery: .collected(limit: 5)))
        #expect(fixture.requests.count == 1)
    }

    @Test func `A response above the limit is not stored, and removes the older one`() async throws {
        let fixture = try CacheFixture(store: CacheUnderTest(entryByteLimit: 2000)) { number, _, _ in
            CannedResponse(lines: fresh, body: String(repeating: "\(number)", count: number == 1 ? 1 : 2000))
        }
        #expect(try await fixture.get() == "1")
        _ = try await fixture.get("/", ["Cache-Control: no-cache"])
        #expect(await fixture.store.count == 0)
    }

    @Test func `A caching session has the executor and the headers of the transport below`() throws {
        let curl = CurlSession(CurlSession.Configuration(decompresses: true))
        let session = CachingSession(curl)
        #expect(session.executor.map(ObjectIdentifier.init) == curl.executor.map(ObjectIdentifier.init))
        var (direct, cached) = (try HTTPRequest(.get, "http://h/"), try HTTPRequest(.get, "http://h/"))
        curl.prepare(&direct)
        session.prepare(&cached)
        #expect(Array(direct.headers) == Array(cached.headers))
    }

    @Test func `Vary includes the headers that the transport below adds`() async throws {
        let fixture = try CacheFixture(fresh + ["Vary: Accept-Encoding"])
        #expect(try await fixture.get() == "1")
        let decompressing = fixture.store.session(
            CurlSession(CurlSession.Configuration(decompresses: true)), nil, fixture.clock.clock)
        let response = try await decompressing.send(fixture.request(.get, "/", []), TransferOptions())
        #expect(try await response.body.collect() == Array("2".utf8))
    }

    @Test func `Concurrent requests are served consistently`() async throws {
        let transport = Echo()
        let store = try CacheUnderTest(byteLimit: 20_000)
        let session = store.session(transport)
        let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask {
                    let (path, user) = ("/\(number % 7)", "user\(number % 3)")
                    var request = try HTTPRequest(number % 20 == 0 ? .put : .get, "http://h\(path)")
                    try request.setHeader("Authorization", user)
                    if number % 97 == 0 { try await store.removeAll() }
                    let body = try await session.send(request, TransferOptions()).body.collect()
                    return String(decoding: body, as: UTF8.self) != "\(path) \(user)"
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(wrong == 0)
        #expect(await store.byteCount <= 20_000)
    }

    /// Responds with the request itself, after yielding to other tasks.
    private struct Echo: HTTPTransport {
        func send(_ request: HTTPRequest, _ options: TransferOptions) async throws(TransportError) -> HTTPResponse {
            await Task.yield()
            var headers = HTTPHeaders()
            headers.add("Cache-Control", "max-age=60", by: .host)
            let body = "\(request.target) \(request.headers["Authorization"] ?? "")"
            return HTTPResponse(version: .http11, status: 200, reason: "", headers: headers, body: .bytes(Array(body.utf8)))
        }
    }
}
