import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests schemes that replace or wrap a request's body, over real HTTP.
struct BodyReplacementTests {
    private let lines = Collected<String>()

    private func instance(_ mode: String, _ scheme: String = "body") throws -> SchemeInstance {
        let lines = lines
        return try TestPlugin.body.get().scheme(scheme).makeInstance(settings: ["mode": .text(mode)]) { _, line in
            lines.append(line)
        }
    }

    private func provider(_ instance: SchemeInstance) -> NetworkProvider {
        NetworkProvider(
            session: CurlSession(), interceptor: SchemeSession(instance, storage: InMemoryStorage()).interceptor)
    }

    private var freed: Int { lines.values.count { $0 == "freed" } }

    private func put(_ body: HTTPBody, to url: String = "http://h/") throws -> HTTPRequest {
        try HTTPRequest(.put, url, body: body)
    }

    /// A stream of this many bytes in pieces of irregular sizes.
    private func stream(_ count: Int, isReplayable: Bool = true) -> (HTTPBody, bytes: [UInt8]) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        var size = 1
        while !rest.isEmpty {
            pieces.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
            size = size % 99_991 &* 7 % 131_072 + 1
        }
        return (.stream(.of(pieces, length: Int64(count), isReplayable: isReplayable)), bytes)
    }

    private func sha256(_ bytes: [UInt8]) throws -> String {
        let folder = try TemporaryFolder()
        let file = try folder.write("body", bytes)
        return try Command.python(
            "import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], 'rb').read()).hexdigest())", [file])[0]
    }

    @Test(arguments: [("", ""), ("a", "YQ=="), ("ab", "YWI="), ("the plain text", "dGhlIHBsYWluIHRleHQ=")])
    func `A replaced body is sent with its own length`(body: String, expected: String) async throws {
        let server = try ScriptedServer()
        let request = try put(.bytes(Array(body.utf8)), to: server.url)
        #expect(try await provider(instance("base64")).send(request).status == 200)
        let sent = try #require(server.requests.first)
        #expect(String(decoding: sent.body, as: UTF8.self) == expected)
        #expect(sent["Content-Length"] == "\(expected.utf8.count)")
        #expect(sent.headers.count { $0.name == "Content-Length" } == 1)
        #expect(sent["Transfer-Encoding"] == nil)
    }

    @Test func `A later signature of the same attempt sees the new body`() async throws {
        let view = try TestPlugin.view.get().scheme().makeInstance()
        let chain = InterceptorChain([
            SchemeSession(try instance("base64"), storage: InMemoryStorage()).interceptor, TokenInterceptor(view.token),
        ])
        let request = try await NetworkProvider(session: CurlSession(), interceptor: chain).authorize(put(.bytes([1, 2, 3, 4])))
        #expect(request.headers["V-Body"] == Hexadecimal.text(Array("AQIDBA==".utf8)))
        #expect(request.headers["V-Body-Length"] == "8")
    }

    @Test(arguments: [1, 65535, 65536, 65537, 200_000])
    func `Python undoes the chunks of a wrapped body in memory`(count: Int) async throws {
        let server = try await ProbeServer.start("chunked")
        let bytes = stream(count).bytes
        let response = try await provider(instance("chunked")).send(put(.bytes(bytes), to: server.url))
        #expect(try await text(of: response) == "\((count + 65535) / 65536) \(sha256(bytes))")
        #expect(await eventually { freed == 1 })
    }

    @Test(arguments: [true, false])
    func `Python undoes the chunks of a stream of 5 MB in odd pieces`(isReplayable: Bool) async throws {
        let server = try await ProbeServer.start("chunked")
        let (body, bytes) = stream(5_000_003, isReplayable: isReplayable)
        let response = try await provider(instance("chunked")).send(put(body, to: server.url))
        #expect(try await text(of: response) == "77 \(sha256(bytes))")
        #expect(await eventually { freed == 1 })
    }

    private func text(of response: HTTPResponse) async throws -> String {
        String(decoding: try await response.body.collect(), as: UTF8.self)
    }

    @Test(arguments: [
        (
            "short",
            "it wrote only 65569 of the 65598 bytes that wrap_body announced; report it to the plugin's author, with the function body_piece"
        ),
        ("long", "it wrote more bytes than wrap_body announced; report it to the plugin's author, with the function body_piece"),
        ("fails", "can't change the request's body now: the card was pulled out; try again later"),
    ])
    func `A wrapping that isn't as announced, or fails, fails the request`(mode: String, problem: String) async throws {
        let server = try ScriptedServer()
        do {
            let instance = try instance(mode)
            let error = await #expect(throws: NetworkError.self) {
                try await provider(instance).send(put(stream(65536).0, to: server.url))
            }
            let description = error.map { "\($0)" } ?? ""
            for part in [instance.scheme.plugin, "\"body\"", problem] {
                #expect(description.contains(part), "\(description)")
            }
        }
        #expect(await eventually { lines.values.contains("destroyed") })
        #expect(lines.values == ["freed", "destroyed"])
    }

    @Test func `A stream that isn't as long as declared fails the request`() async throws {
        let server = try ScriptedServer()
        for length: Int64 in [2, 4] {
            let error = await #expect(throws: NetworkError.self) {
                try await provider(instance("chunked")).send(
                    put(.stream(.of([[1], [2, 3]], length: length)), to: server.url))
            }
            #expect(error.map { "\($0)" }?.contains("its reader delivered") == true)
        }
        #expect(await eventually { freed == 2 })
    }

    @Test(arguments: [
        ("unneeded", "its needs don't name NEVOD_NEED_REPLACE_BODY", 0),
        ("unneeded-wrap", "its needs don't name NEVOD_NEED_REPLACE_BODY", 1),
        ("twice", "it has replaced the body already in this call", 2), ("huge", "is too large", 1),
    ])
    func `A refused replacement fails the request, and each wrapping is freed once`(
        mode: String, problem: String, wrappings: Int
    ) throws {
        var request = try put(.bytes([1]))
        do {
            let instance = try instance(mode)
            let error = try #require(throws: PluginError.self) { try instance.authorize(&request, attempt: 1) }
            #expect("\(error)".contains("tried to write the body: "))
            #expect("\(error)".contains(problem), "\(error)")
        }
        #expect(lines.values == Array(repeating: "freed", count: wrappings) + ["destroyed"])
        #expect(request.headers.isEmpty)
        guard case .bytes([1]) = request.body else {
            Issue.record("the body was replaced")
            return
        }
    }

    @Test func `A body that can't be wrapped or replaced is named`() throws {
        func refusal(_ mode: String, _ body: HTTPBody, _ scheme: String = "body") throws -> String {
            var request = try put(body)
            let instance = try instance(mode, scheme)
            return "\(try #require(throws: PluginError.self) { try instance.authorize(&request, attempt: 1) })"
        }
        #expect(try refusal("chunked", .stream(.of([[1]], length: nil))).contains("its length is not known in advance"))
        #expect(try refusal("chunked", .none).contains("the request has no body, so wrap_body has nothing to wrap"))
        #expect(try refusal("base64", .stream(.of([[1]], length: 1))).contains("the body is a stream, which only wrap_body can"))
        #expect(try refusal("without", .bytes([1]), "without-functions").contains("the scheme has no body_piece"))
    }

    @Test func `A wrapping is freed if authorize fails after it`() throws {
        do {
            var request = try put(.bytes([1]))
            let instance = try instance("gives-up")
            #expect(throws: PluginError.self) { try instance.authorize(&request, attempt: 1) }
        }
        #expect(lines.values == ["freed", "destroyed"])
    }

    @Test(arguments: [true, false])
    func `A retry wraps the original body anew, if that can be read again`(isReplayable: Bool) async throws {
        let first = SingleUse()
        let server = try ScriptedServer { _ in .init(status: first.begin() ? 503 : 200) }
        let request = try put(stream(100_000, isReplayable: isReplayable).0, to: server.url)
        let policy = RetryPolicy(maxAttempts: 2, baseDelay: .zero, isBudgeted: false)
        let status = try await provider(instance("chunked")).send(request, RequestOptions(retryPolicy: policy)).status
        #expect(status == (isReplayable ? 200 : 503))
        #expect(server.requests.map(\.body) == Array(repeating: server.requests[0].body, count: isReplayable ? 2 : 1))
        #expect(await eventually { freed == server.requests.count })
    }

    @Test func `A retry after a 401 wraps the body again, beside the renewed token`() async throws {
        let first = SingleUse()
        let server = try ScriptedServer { .init(status: $0.method == "PUT" && first.begin() ? 401 : 200) }
        let session = SchemeSession(
            try TestPlugin.parameters.get().scheme("session").makeInstance(settings: ["url": .text(server.url)]),
            storage: InMemoryStorage())
        let chain = InterceptorChain([TokenInterceptor(try instance("chunked").token), session.interceptor])
        let provider = NetworkProvider(session: CurlSession(), interceptor: chain)
        #expect(try await provider.send(put(stream(100_000).0, to: server.url)).status == 200)
        let sent = server.requests.filter { $0.method == "PUT" }
        #expect(sent.map(\.body) == [sent[0].body, sent[0].body])
        #expect(sent.map { $0["X-Token"] } == ["1 acr=low", "2 acr=low"])
        #expect(await eventually { freed == 2 })
    }

    @Test func `A redirect wraps the body again, and to another origin sends it as it is`() async throws {
        let other = try ScriptedServer()
        let server = try ScriptedServer { request in
            switch request.target {
            case "/1": .init(status: 307, headers: ["Location: /2"])
            case "/2": .init(status: 308, headers: ["Location: \(other.url)/3"])
            default: .init()
            }
        }
        let bytes = stream(1000).bytes
        #expect(try await provider(instance("chunked")).send(put(.bytes(bytes), to: "\(server.url)/1")).status == 200)
        #expect(server.requests.map(\.target) == ["/1", "/2"])
        #expect(server.requests[0].body == server.requests[1].body)
        #expect(server.requests[0].body != bytes)
        #expect(other.requests.map(\.body) == [bytes])
        #expect(other.requests[0]["Content-Length"] == "1000")
        #expect(other.requests[0]["Content-Encoding"] == nil)
        #expect(await eventually { freed == 2 })
    }

    @Test func `A transfer that is cancelled while it sends frees the wrapping`() async throws {
        let hasConnection = Latch()
        let mayEnd = Latch()
        let server = try RawServer { connection, _ in
            hasConnection.set()
            mayEnd.waitOnThread()
            withExtendedLifetime(connection) {}
        }
        defer { mayEnd.set() }
        do {
            let provider = try provider(instance("chunked"))
            let request = try put(stream(30_000_000).0, to: server.url)
            let task = Task { try await provider.send(request) }
            await hasConnection.wait()
            #expect(freed == 0)
            task.cancel()
            await #expect(throws: NetworkError.cancelled) { try await task.value }
        }
        #expect(await eventually { lines.values == ["freed", "destroyed"] })
        withExtendedLifetime(server) {}
    }
}
