import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a scheme's view of a request, with a plugin in C that writes the whole view to headers.
struct SchemeInstanceTests {
    private let instance: SchemeInstance

    init() throws {
        instance = try TestPlugin.view.get().scheme().makeInstance(clock: .fixed)
    }

    private struct View {
        let lines: [(name: String, value: String)]
        subscript(name: String) -> String? { lines.first { $0.name == name }?.value }
        func all(_ name: String) -> [String] { lines.filter { $0.name == name }.map(\.value) }
        var headers: [String] {
            zip(all("V-Name"), all("V-Value")).map { "\(Self.text($0)): \(Self.text($1))" }
        }
        private static func text(_ hex: String) -> String {
            let digits = Array(hex.utf8)
            let bytes = stride(from: 0, to: digits.count, by: 2).map {
                UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16) ?? 0
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func view(
        _ request: HTTPRequest, attempt: Int = 1, _ instance: SchemeInstance? = nil, _ digests: StreamDigests? = nil
    ) throws -> View {
        var request = request
        request.materialize()
        let before = request.headers.count
        try (instance ?? self.instance).authorize(&request, attempt: attempt, streamDigests: digests)
        return View(lines: request.headers.dropFirst(before).map { ($0.name, $0.value) })
    }

    @Test func `The view has the method, scheme, authority and target`() throws {
        let first = try view(HTTPRequest(.get, "HTTPS://Example.com:8443/a%2Fb//../ä?x=1&&y#z"))
        #expect(first["V-Method"] == "GET")
        #expect(first["V-Scheme"] == "https")
        #expect(first["V-Authority"] == "example.com:8443")
        #expect(first["V-Target"] == "/a%2Fb//../%C3%A4?x=1&&y")
        #expect(first["V-Target-Kind"] == "0")
        #expect(first["V-Token"] == "0")
        #expect(first["V-State"] == "0")
        let second = try view(HTTPRequest(#require(HTTPMethod(rawValue: "M-SEARCH")), "http://[::1]"))
        #expect(second["V-Method"] == "M-SEARCH")
        #expect(second["V-Scheme"] == "http")
        #expect(second["V-Authority"] == "[::1]")
        #expect(second["V-Target"] == "/")
    }

    @Test(arguments: [("Virtual.test:80", "Virtual.test:80"), ("", "")])
    func `A Host line of the caller's is the view's authority`(line: String, authority: String) throws {
        var request = try HTTPRequest(.get, "http://h:81/")
        try request.setHeader("host", line)
        #expect(try view(request)["V-Authority"] == authority)
    }

    @Test func `The view has every header line, in the order of sending`() throws {
        var request = try HTTPRequest(.post, "http://h:81/", body: .bytes([1, 2]))
        try request.addHeader("b", "1")
        try request.addHeader("A", "2")
        try request.addHeader("B", "3")
        try request.addHeader("Empty", "")
        try request.setHeader("A", "longer than before")
        try request.addHeader("Non-ASCII", "ä")
        let expected = [
            "Host: h:81", "Content-Length: 2", "b: 1", "A: longer than before", "B: 3", "Empty: ", "Non-ASCII: ä",
        ]
        #expect(try view(request).headers == expected)
    }

    @Test(arguments: [[], [0], Array(0...255), [UInt8](repeating: 7, count: 100_000)] as [[UInt8]])
    func `The view has the body and its digests`(body: [UInt8]) throws {
        // The header with the body in hex has a size limit. The digests don't.
        let short = Array(body.prefix(20_000))
        let view = try view(HTTPRequest(.post, "http://h/", body: .bytes(short)))
        #expect(view["V-Body-Kind"] == (body.isEmpty ? "0" : "1"))
        #expect(view["V-Body-Length"] == "\(short.count)")
        #expect(view["V-Body"] == hex(short))
        #expect(view.all("V-Digest-Name") == (body.isEmpty ? [] : ["sha-512", "sha-256", "sha-384"]))
        let expected = try Command.python(
            "import sys, hashlib\nfor n in ('sha512', 'sha256', 'sha384'): print(hashlib.new(n, bytes.fromhex(sys.argv[1])).hexdigest())",
            [hex(short)])
        #expect(view.all("V-Digest") == (body.isEmpty ? [] : expected))
    }

    @Test func `The view of a request without a body has none`() throws {
        let view = try view(HTTPRequest(.get, "http://h/"))
        #expect(view["V-Body-Kind"] == "0")
        #expect(view["V-Body-Length"] == "0")
        #expect(view["V-Body"] == "")
        #expect(view.all("V-Digest").isEmpty)
    }

    @Test func `A stream that can be read again has its digests, and no bytes`() async throws {
        let body = HTTPBodyStream.of([[1, 2, 3], [4]], length: 4)
        let digests = try await StreamDigests(of: body, instance.needs.digests)
        let seen = try view(HTTPRequest(.post, "http://h/", body: .stream(body)), instance, digests)
        #expect(seen["V-Body-Kind"] == "2")
        #expect(seen["V-Body-Length"] == "4")
        #expect(seen["V-Body"] == "")
        let same = try view(HTTPRequest(.post, "http://h/", body: .bytes([1, 2, 3, 4])))
        #expect(seen.all("V-Digest") == same.all("V-Digest"))
        #expect(seen.all("V-Digest-Name") == same.all("V-Digest-Name"))
        #expect(seen.all("V-Digest").count == 3)
    }

    @Test func `A stream of unknown length has no digests`() throws {
        let body = HTTPBodyStream(length: nil, isReplayable: false) { throw CancellationError() }
        let seen = try view(HTTPRequest(.post, "http://h/", body: .stream(body)))
        #expect(seen["V-Body-Kind"] == "2")
        #expect(seen["V-Body-Length"] == "-1")  // UINT64_MAX, as the plugin prints it
        #expect(seen.all("V-Digest").isEmpty)
        #expect(seen.headers.last == "Transfer-Encoding: chunked")
    }

    @Test func `A stream of length zero is no body`() throws {
        let body = HTTPBodyStream(length: 0, isReplayable: true) { throw CancellationError() }
        #expect(try view(HTTPRequest(.post, "http://h/", body: .stream(body)))["V-Body-Kind"] == "0")
    }

    @Test func `The view has the time of the host's clock`() throws {
        #expect(try view(HTTPRequest(.get, "http://h/"))["V-Time"] == "1767225600123456789")
    }

    @Test func `The view has 32 random bytes, new for each call`() throws {
        let request = try HTTPRequest(.get, "http://h/")
        let randoms = try (0..<200).map { _ in try #require(view(request)["V-Random"]) }
        #expect(randoms.allSatisfy { $0.utf8.count == 64 })
        #expect(Set(randoms).count == randoms.count)
    }

    @Test func `Uses are counted from zero, for each instance`() throws {
        let request = try HTTPRequest(.get, "http://h/")
        #expect(try (0..<4).map { _ in try view(request)["V-Use-Count"] } == ["0", "1", "2", "3"])
        let other = try TestPlugin.view.get().scheme().makeInstance()
        #expect(try view(request, other)["V-Use-Count"] == "0")
    }

    @Test func `Uses are counted for each origin`() throws {
        _ = try view(HTTPRequest(.get, "http://one/"))
        let second = try view(HTTPRequest(.get, "http://two/"))
        #expect(second["V-Use-Count"] == "0")
    }

    @Test func `No use is counted twice by tasks at the same time`() async throws {
        let request = try HTTPRequest(.get, "http://h/")
        let counts = try await withThrowingTaskGroup(of: [String?].self) { group in
            for _ in 0..<8 { group.addTask { try (0..<250).map { _ in try view(request)["V-Use-Count"] } } }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(counts.compactMap { $0.flatMap { Int($0) } }) == Set(0..<2000))
    }

    @Test(arguments: [1, 2, 16])
    func `The view has the number of the attempt`(attempt: Int) throws {
        #expect(try view(HTTPRequest(.get, "http://h/"), attempt: attempt)["V-Attempt"] == "\(attempt)")
    }

    @Test func `An instance is destroyed once, with its last reference`() throws {
        let lines = Collected<String>()
        do {
            var token: PluginToken?
            do {
                let instance = try TestPlugin.view.get().scheme().makeInstance { level, line in lines.append("\(level) \(line)") }
                token = instance.token
            }
            #expect(lines.values == ["2 create"])
            var request = try HTTPRequest(.get, "http://h/")
            try token?.authorize(&request)
            #expect(request.headers["V-Method"] == "GET")
            #expect(lines.values == ["2 create"])
            token = nil
        }
        #expect(lines.values == ["2 create", "2 destroy"])
    }

    @Test func `A stored token is bound before it is used`() throws {
        let purpose = [0, 4] + Array("View".utf8) + [0, 4] + Array("view".utf8)
        let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 5] + purpose + [0, 0, 0, 2] + Array("me".utf8) + [1, 2, 3]
        let stored = try PluginToken.decode(from: bytes)
        for count in 0..<bytes.count - 3 {
            let error = #expect(throws: UnreadableTokenError.self) { try PluginToken.decode(from: Array(bytes.prefix(count))) }
            #expect(error?.missing.isEmpty == false, "\(count) bytes")
        }
        var request = try HTTPRequest(.get, "http://h/")
        #expect(throws: UnboundTokenError.self) { try stored.authorize(&request) }
        #expect(stored.issued.bytes == Secret(copying: [1, 2, 3] as [UInt8]))
        #expect(stored.expiresAt == UnixTime(nanoseconds: 5))
        #expect(try stored.encode() == bytes)
        try instance.token(stored).authorize(&request)
        // A scheme that decodes nothing gets the stored bytes.
        #expect(request.headers["V-Token"] == "1")
    }
}
