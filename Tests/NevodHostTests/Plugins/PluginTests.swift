import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the real libHMACAuth.so, loaded as in a program.
struct PluginTests {
    private static let settings: SchemeSettings = ["api-key": "demo", "secret": .secret(Secret("the key of the signature"))]

    private func instance() throws -> SchemeInstance {
        try TestPlugin.hmac.get().scheme().makeInstance(settings: Self.settings, clock: .fixed)
    }

    /// Python's signatures of the same messages.
    private func expectedSignatures(_ messages: [String]) throws -> [String] {
        try Command.python(
            "import sys, hmac\nfor m in sys.argv[2:]: print(hmac.new(bytes.fromhex(sys.argv[1]), bytes.fromhex(m), 'sha256').hexdigest())",
            [hex("the key of the signature".utf8)] + messages.map { hex($0.utf8) })
    }

    private func sha256(_ bytes: [UInt8]) throws -> String {
        try Command.python("import sys, hashlib\nprint(hashlib.sha256(bytes.fromhex(sys.argv[1])).hexdigest())", [hex(bytes)])[0]
    }

    @Test func `The plugin's name, version, vendor and schemes are read`() throws {
        let plugin = try TestPlugin.hmac.get()
        #expect(plugin.name == "HMACAuth")
        #expect(plugin.vendor == "NevodHost")
        #expect(!plugin.version.isEmpty)
        #expect(plugin.path.hasSuffix("/libHMACAuth.so"))
        let scheme = try plugin.scheme("hmac")
        #expect(try plugin.scheme().id == "hmac")
        #expect(scheme.title == "HMAC request signature")
        #expect(scheme.settings.filter(\.isRequired).map(\.name) == ["api-key", "secret"])
        #expect(scheme.settings.filter(\.isSecret).map(\.name) == ["secret", "passphrase", "token", "memo"])
    }

    @Test func `A library that is loaded twice is one plugin`() throws {
        let first = try TestPlugin.hmac.get()
        let second = try Plugin(named: first.path)
        #expect(second.path == first.path)
        #expect(try second.scheme().table == first.scheme().table)
    }

    @Test func `The error for an unknown scheme names the known ones`() throws {
        let error = try #require(throws: PluginError.self) { try TestPlugin.hmac.get().scheme("digest") }
        #expect("\(error)".hasSuffix("has no scheme \"digest\"; it offers hmac"))
    }

    @Test func `Settings are checked by the host, and then by the scheme`() throws {
        let scheme = try TestPlugin.hmac.get().scheme()
        let missing = try #require(throws: PluginError.self) { try scheme.makeInstance(settings: ["api-key": "demo"]) }
        #expect("\(missing)".contains("needs the setting \"secret\" (Shared key of the signature)"))
        let unknown = try #require(throws: PluginError.self) { try scheme.makeInstance(settings: ["api_key": "demo"]) }
        #expect("\(unknown)".contains("has no setting \"api_key\"; its settings are api-key, secret"))
        let empty = try #require(throws: PluginError.self) {
            try scheme.makeInstance(settings: ["api-key": "demo", "secret": ""])
        }
        guard case .failed("hmac", "create", 1, "secret", "must not be empty", nil) = empty.reason else {
            Issue.record("\(empty)")
            return
        }
    }

    @Test func `Signatures are those that Python computes`() throws {
        let body = Array("{\"name\": \"Müller\"}".utf8)
        let requests = [
            try HTTPRequest(.get, "http://127.0.0.1:8080/orders?page=2&&x"),
            try HTTPRequest(.post, "https://example.com/a%2Fb//c", body: .bytes(body)),
            try HTTPRequest(.put, "http://h/grüße/日本?q=ä", body: .bytes([0])),
            try HTTPRequest(.delete, "http://h"),
        ]
        let messages = [
            "GET\n/orders\n\(fixedSeconds)\n",
            "POST\n/a%2Fb//c\n\(fixedSeconds)\n\(try sha256(body))",
            "PUT\n/gr%C3%BC%C3%9Fe/%E6%97%A5%E6%9C%AC\n\(fixedSeconds)\n\(try sha256([0]))",
            "DELETE\n/\n\(fixedSeconds)\n",
        ]
        let instance = try instance()
        for (request, expected) in zip(requests, try expectedSignatures(messages)) {
            var request = request
            try instance.authorize(&request, attempt: 1)
            #expect(
                request.headers.map { "\($0.name): \($0.value)" } == [
                    "X-API-Key: demo", "X-Timestamp: \(fixedSeconds)", "X-Signature: \(expected)",
                ])
            #expect(request.headers.allSatisfy { $0.provenance == .scheme("hmac") })
        }
    }

    @Test func `Authorizing again replaces the headers`() throws {
        let instance = try instance()
        var request = try HTTPRequest(.get, "http://h/one")
        try request.setHeader("x-signature", "the caller's own")
        try instance.authorize(&request, attempt: 1)
        let once = Array(request.headers)
        try instance.authorize(&request, attempt: 2)
        #expect(Array(request.headers) == once)
        #expect(once.count == 3)
    }

    @Test func `Sixteen thousand signatures of eight tasks are all right`() async throws {
        let instance = try instance()
        let expected = try expectedSignatures((0..<8).map { "GET\n/task/\($0)\n\(fixedSeconds)\n" })
        #expect(Set(expected).count == 8)
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let request = try HTTPRequest(.get, "http://h/task/\(task)?not=signed")
                    return try (0..<2000).count { _ in
                        var request = request
                        try instance.authorize(&request, attempt: 1)
                        return request.headers["X-Signature"] != expected[task]
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }
}
