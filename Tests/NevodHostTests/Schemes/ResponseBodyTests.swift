import Foundation
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests response bodies as a plugin in C sees them: the digests, which it compares with Python's hashlib, and the body of a
/// challenge.
@Suite(.blocking)
struct ResponseBodyTests {
    private let lines = Collected<String>()

    private static func server() async throws -> ProbeServer { try await ProbeServer.start("body") }

    private func provider(
        _ needs: String, _ scheme: String = "plain", statuses: [Int] = [], decompresses: Bool = false
    ) throws -> NetworkProvider {
        let session = try ResponseScheme.session(scheme, needs: needs, statuses: statuses, lines)
        return NetworkProvider(
            session: CurlSession(CurlSession.Configuration(decompresses: decompresses)), interceptor: session.interceptor)
    }

    private static func options(streamed: Bool, limit: Int = 64 << 20, redirects: RedirectPolicy = .none) -> RequestOptions {
        RequestOptions(
            delivery: streamed ? .streamed : .collected(limit: limit), redirects: redirects, retryPolicy: RetryPolicy.none)
    }

    private static func shown(_ status: Int, _ bytes: Int, cut: Bool = false, _ digests: Int, _ call: String = "on_response")
        -> String
    {
        "2 \(call) \(status): \(bytes) bytes\(cut ? ", cut" : ""), \(digests) digests"
    }

    /// The plugin's logged calls, without the first bytes of the bodies.
    private var calls: [String] { lines.values.map { $0.split(separator: ", \"").first.map(String.init) ?? $0 } }

    // MARK: Digests

    private static let bodies = [
        "size=1", "size=1000", "size=5000000", "size=70000&piece=1000", "size=5000000&piece=65536", "size=300&piece=1",
        "size=1000&coding=gzip", "size=200000&status=404", "size=200000&status=500",
    ]

    @Test(arguments: bodies, [true, false])
    func `A scheme gets the digests of a body`(query: String, isStreamed: Bool) async throws {
        let server = try await Self.server()
        let response = try await provider("cod").send(
            HTTPRequest(.get, "\(server.url)/?\(query)"), Self.options(streamed: isStreamed))
        if isStreamed {
            #expect(lines.values.isEmpty, "before the body is complete")
            guard case .stream = response.body else { return #expect(Bool(false), "\(response.body)") }
        }
        let body = try await response.body.collect()
        #expect(!body.isEmpty)
        #expect(calls == [Self.shown(response.status, 0, 3)])
    }

    @Test(arguments: ["size=0", "size=0&piece=1"], [true, false])
    func `An empty body has the digests of zero bytes`(query: String, isStreamed: Bool) async throws {
        let server = try await Self.server()
        let response = try await provider("cod").send(
            HTTPRequest(.get, "\(server.url)/?\(query)"), Self.options(streamed: isStreamed))
        #expect(try await response.body.collect().isEmpty)
        #expect(calls == [Self.shown(200, 0, 3)])
    }

    @Test(arguments: [("HEAD", "size=5000"), ("GET", "size=5&status=204"), ("GET", "size=5&status=304")], [true, false])
    func `A response without a body is shown at once`(request: (method: String, query: String), isStreamed: Bool) async throws {
        let server = try await Self.server()
        _ = try await provider("cod").send(
            HTTPRequest(HTTPMethod(validating: request.method), "\(server.url)/?\(request.query)"),
            Self.options(streamed: isStreamed))
        #expect(calls.count == 1)
        #expect(calls.allSatisfy { $0.hasSuffix("0 bytes, 3 digests") })
    }

    @Test(arguments: ["size=1", "size=70000&piece=1000", "size=5000000"], ["plain", "blocking"])
    func `Nothing of a tampered body is delivered`(query: String, scheme: String) async throws {
        let server = try await Self.server()
        let error = try await #require(throws: NetworkError.self) {
            try await provider("cod", scheme).send(
                HTTPRequest(.get, "\(server.url)/?\(query)&tamper=1"), Self.options(streamed: false))
        }
        #expect(error.description.contains("X-Digests doesn't match the body"))
        guard case .plugin = error else { return #expect(Bool(false), "\(error)") }
    }

    @Test(arguments: ["size=1", "size=70000&piece=1000", "size=5000000"], ["plain", "blocking"])
    func `A tampered stream ends with the reason, each time it is read`(query: String, scheme: String) async throws {
        let server = try await Self.server()
        let response = try await provider("cod", scheme).send(
            HTTPRequest(.get, "\(server.url)/?\(query)&tamper=1"), Self.options(streamed: true))
        guard case .stream(let stream) = response.body else { return #expect(Bool(false), "\(response.body)") }
        for _ in 0..<2 {
            let error = try await #require(throws: TransportError.self) { while try await stream.next() != nil {} }
            #expect(error.code == .rejected)
            guard case .refusedResponse? = (error.underlying as? PluginError)?.reason,
                case .plugin = NetworkError(error)
            else { return #expect(Bool(false), "\(error)") }
            #expect(error.description.contains("X-Digests doesn't match the body"))
        }
        #expect(calls.count == 1)
    }

    @Test func `A tampered download leaves the old file`() async throws {
        let server = try await Self.server()
        let folder = try TemporaryFolder()
        let path = try folder.write("file", "old")
        let session = try ResponseScheme.session("plain", needs: "cod", lines)
        let provider = NetworkProvider(
            config: NetworkConfig(environments: [Service.api: SimpleEnvironment(baseURL: server.url)], retryPolicy: .none),
            session: CurlSession(), interceptor: session.interceptor)
        func route(_ query: [String: String]) -> SimpleGetRoute<EmptyResponse, Service> {
            SimpleGetRoute(endpoint: "/", domain: .api, queryParameters: query)
        }
        await #expect(throws: NetworkError.self) {
            try await provider.download(route(["size": "100000", "tamper": "1"]), to: path)
        }
        #expect(try contents(of: path) == Array("old".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
        try await provider.download(route(["size": "100000"]), to: path)
        #expect(try contents(of: path).count == 100_000)
    }

    @Test func `A body that breaks off is the transport's failure, and not shown`() async throws {
        let server = try await Self.server()
        let provider = try provider("cod")
        let url = "\(server.url)/?size=100000&cut=1"
        let error = try await #require(throws: NetworkError.self) {
            try await provider.send(HTTPRequest(.get, url), Self.options(streamed: false))
        }
        guard case .noConnection = error else { return #expect(Bool(false), "\(error)") }
        let response = try await provider.send(HTTPRequest(.get, url), Self.options(streamed: true))
        await #expect(throws: TransportError.self) { _ = try await response.body.collect() }
        #expect(lines.values.isEmpty)
    }

    @Test func `The caller's limit holds`() async throws {
        let server = try await Self.server()
        let provider = try provider("cod")
        let error = await #expect(throws: NetworkError.self) {
            try await provider.send(HTTPRequest(.get, "\(server.url)/?size=1001"), Self.options(streamed: false, limit: 1000))
        }
        guard case .invalidResponse(let error)? = error, error.code == .bodyTooLarge(limit: 1000) else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
        let response = try await provider.send(
            HTTPRequest(.get, "\(server.url)/?size=1000"), Self.options(streamed: false, limit: 1000))
        #expect(try await response.body.collect().count == 1000)
    }

    @Test func `The host asks for no coding that it would undo, and computes no digests of what it has decoded`() async throws {
        let server = try await Self.server()
        let provider = try provider("cod", decompresses: true)
        let plain = try await provider.send(HTTPRequest(.get, "\(server.url)/?size=1000"))
        #expect(try await plain.body.collect().count == 1000)
        let decoded = try await provider.send(HTTPRequest(.get, "\(server.url)/?size=1000&coding=gzip&expect=none"))
        #expect(try await decoded.body.collect().count == 1000)
        #expect(calls == [Self.shown(200, 0, 3), Self.shown(200, 0, 0)])
        // A scheme that doesn't need it leaves the transport's own line.
        _ = try await self.provider("co", decompresses: true).send(HTTPRequest(.get, "\(server.url)/?size=1&expect=none"))
        // A caller's own line stays.
        var own = try HTTPRequest(.get, "\(server.url)/?size=1000&coding=gzip")
        try own.setHeader("Accept-Encoding", "gzip")
        _ = try await self.provider("cod").send(own)
        #expect(calls.last == Self.shown(200, 0, 3))
        let seen = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/seen"))
        let codings = try Command.python(
            "import json, sys\nfor one in json.loads(sys.argv[1]): print(one.get('accept-encoding', '-'))",
            [String(decoding: try await seen.body.collect(), as: UTF8.self)])
        #expect(codings.prefix(2) == ["identity", "identity"])
        #expect(codings.count == 4 && codings[2].contains("gzip") && codings[3] == "gzip")
    }

    @Test(arguments: [true, false])
    func `A refused redirect is not followed`(isStreamed: Bool) async throws {
        let server = try await Self.server()
        let url = "\(server.url)/?size=5000&status=302&header=Location:/%3Fsize=7"
        let options = Self.options(streamed: isStreamed, redirects: .follow(limit: 3))
        let error = await #expect(throws: NetworkError.self) {
            try await provider("cod").send(HTTPRequest(.get, "\(url)&tamper=1"), options)
        }
        #expect(error?.description.contains("X-Digests") == true)
        let response = try await provider("cod").send(HTTPRequest(.get, url), options)
        #expect(try await response.body.collect().count == 7)
        #expect(calls == [Self.shown(302, 0, 3), Self.shown(302, 0, 3), Self.shown(200, 0, 3)])
    }

    @Test func `A state and a token at the end of a stream are kept`() async throws {
        let server = try await Self.server()
        let provider = try provider("cods", "flows")
        let first = "\(server.url)/?size=5000&header=X-State:new&header=X-Keep:next&header=X-Verdict:retry"
        _ = try await provider.send(HTTPRequest(.get, first), Self.options(streamed: true)).body.collect()
        _ = try await provider.send(HTTPRequest(.get, "\(server.url)/?size=5"), Self.options(streamed: true)).body.collect()
        let seen = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/seen"))
        let tokens = try Command.python(
            "import json, sys\nfor one in json.loads(sys.argv[1]): print(one.get('x-token'), one.get('x-state'))",
            [String(decoding: try await seen.body.collect(), as: UTF8.self)])
        #expect(tokens == ["login1 None", "next new"])
    }

    @Test func `A token at the end of a stream is kept for the parameters of its request`() async throws {
        let server = try await Self.server()
        let provider = try provider("cod", "flows")
        func token(_ scope: SchemeParameters, _ query: String) async throws -> String {
            var options = Self.options(streamed: true)
            options.schemeParameters = scope
            _ = try await provider.send(HTTPRequest(.get, "\(server.url)/?\(query)"), options).body.collect()
            let seen = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, "\(server.url)/seen"))
            return try Command.python(
                "import json, sys\nprint(json.loads(sys.argv[1])[-1]['x-token'])",
                [String(decoding: try await seen.body.collect(), as: UTF8.self)]
            ).joined()
        }
        #expect(try await token(["scope": "a"], "size=5000&header=X-Keep:next") == "login1")
        #expect(try await token([:], "size=5") == "login2")
        #expect(try await token(["scope": "a"], "size=5") == "next")
        #expect(try await token([:], "size=5") == "login2")
    }

    // MARK: Challenges

    private static let limit = 64 << 10

    @Test(arguments: [0, 1, limit - 1, limit, limit + 1, 1 << 20], [true, false])
    func `A challenge's body is shown up to the limit, and delivered whole`(size: Int, isStreamed: Bool) async throws {
        let server = try await Self.server()
        let url = "\(server.url)/?size=\(size)&expect=none"
        let expected = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.get, url)).body.collect()
        for status in [401, 403, 418] {
            let response = try await provider("cob", statuses: [418]).send(
                HTTPRequest(.get, "\(url)&status=\(status)"), Self.options(streamed: isStreamed))
            #expect(try await response.body.collect() == expected)
        }
        let shown = (min(size, Self.limit), size > Self.limit)
        #expect(calls == [401, 403, 418].map { Self.shown($0, shown.0, cut: shown.1, 0) })
    }

    @Test(arguments: [true, false])
    func `The body of any other response isn't shown`(isStreamed: Bool) async throws {
        let server = try await Self.server()
        let response = try await provider("cob").send(
            HTTPRequest(.get, "\(server.url)/?size=9&status=404&expect=none"), Self.options(streamed: isStreamed))
        #expect(try await response.body.collect().count == 9)
        #expect(calls == [Self.shown(404, 0, 0)])
    }

    @Test(arguments: [true, false])
    func `Without the need, no body is shown`(isStreamed: Bool) async throws {
        let server = try await Self.server()
        let response = try await provider("co").send(
            HTTPRequest(.get, "\(server.url)/?size=9&status=401&expect=none"), Self.options(streamed: isStreamed))
        #expect(try await response.body.collect().count == 9)
        #expect(calls == [Self.shown(401, 0, 0)])
    }

    @Test(arguments: [9, limit + 1], [true, false])
    func `A challenge flow starts with the body`(size: Int, isStreamed: Bool) async throws {
        let server = try await Self.server()
        let response = try await provider("cb", "flows").send(
            HTTPRequest(.get, "\(server.url)/?size=\(size)&status=401&header=X-Verdict:challenge&expect=none"),
            Self.options(streamed: isStreamed))
        #expect(try await response.body.collect().count == size)
        let (count, isCut) = (min(size, Self.limit), size > Self.limit)
        let (seen, flow) = (Self.shown(401, count, cut: isCut, 0), Self.shown(401, count, cut: isCut, 0, "challenge"))
        #expect(calls == [seen, flow, seen, flow, seen, flow, seen, flow, seen])
    }

    @Test(arguments: [1, limit], [true, false])
    func `A challenge up to the limit has digests`(size: Int, isStreamed: Bool) async throws {
        let server = try await Self.server()
        for needs in ["cd", "cbd"] {
            let response = try await provider(needs).send(
                HTTPRequest(.get, "\(server.url)/?size=\(size)&status=401"), Self.options(streamed: isStreamed))
            #expect(try await response.body.collect().count == size)
        }
        #expect(calls == [Self.shown(401, 0, 3), Self.shown(401, size, 3)])
    }

    @Test func `A longer challenge has digests if it is collected`() async throws {
        let server = try await Self.server()
        let size = Self.limit + 1
        let url = "\(server.url)/?size=\(size)&status=401"
        _ = try await provider("cd").send(HTTPRequest(.get, url), Self.options(streamed: false))
        let response = try await provider("cd").send(HTTPRequest(.get, "\(url)&expect=none"), Self.options(streamed: true))
        #expect(try await response.body.collect().count == size)
        #expect(calls == [Self.shown(401, 0, 3), Self.shown(401, 0, 0)])
    }

    @Test(arguments: [true, false])
    func `Two schemes read one body`(isStreamed: Bool) async throws {
        let server = try await Self.server()
        let sessions = try ["cod", "cobd"].map { try ResponseScheme.session("plain", needs: $0, lines) }
        let provider = NetworkProvider(
            session: CurlSession(), interceptor: InterceptorChain(sessions.map(\.interceptor)))
        for status in [200, 401] {
            let response = try await provider.send(
                HTTPRequest(.get, "\(server.url)/?size=5000&status=\(status)"), Self.options(streamed: isStreamed))
            #expect(try await response.body.collect().count == 5000)
        }
        #expect(
            calls.sorted() == [
                Self.shown(200, 0, 3), Self.shown(200, 0, 3), Self.shown(401, 0, 3), Self.shown(401, 5000, 3),
            ])
    }
}
