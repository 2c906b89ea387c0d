import NevodPluginABI
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// The options of a redirect URI, used by a real library's flows.
struct FlowListenTests {
    private static let url = "http://127.0.0.1:1"
    private let log = Collected<String>()

    /// Runs a login, whose token is the redirect's URL and form.
    private func run(
        _ mode: String, _ onOpen: @escaping @Sendable (_ redirectURI: String) async throws -> Void = { _ in }
    ) async throws -> String {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(
            settings: ["mode": .text(mode), "url": .text(Self.url)], log: { [log] in if $1.isLoggedByScheme { log.append($1) } })
        let person = FlowPerson(onOpen: { url in
            let start = try #require(url.firstRange(of: "redirect_uri=")?.upperBound)
            try await onOpen(String(url[start...]))
        })
        let token = try await FlowDriver(instance: instance, session: CurlSession(), interaction: person).run(
            .login, keep: { _ in })
        return try #require(token).bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private func problem(_ mode: String) async -> String {
        do { return try await run(mode) } catch { return "\(error)" }
    }

    private static func port(of url: String) throws -> Int {
        try #require(url.split(separator: ":").last.flatMap { Int($0.prefix { $0 != "/" }) })
    }

    @Test(arguments: ["127.0.0.1", "[::1]", "localhost"])
    func `A redirect arrives under each name of loopback`(host: String) async throws {
        let seen = Collected<String>()
        let token = try await run("listen 0 0 \(host)") { uri in
            seen.append(uri)
            let response = try await CurlSession().send(HTTPRequest(.get, "\(uri)?code=c"), TransferOptions())
            #expect(response.status == 200)
        }
        #expect(token == "\(seen.values[0])?code=c\n")
        #expect(seen.values[0].hasPrefix("http://\(host):"))
    }

    @Test func `A redirect URI on localhost receives at both addresses, and under no other name`() async throws {
        _ = try await run("listen 0 0 localhost") { uri in
            let port = try Self.port(of: uri)
            for address in ["127.0.0.1", "[::1]"] {
                var request = try HTTPRequest(.get, "http://\(address):\(port)/back?by=\(address)")
                #expect(try await CurlSession().send(request, TransferOptions()).status == 404)
                try request.setHeader("Host", "localhost:\(port)")
                #expect(try await CurlSession().send(request, TransferOptions()).status == 200)
            }
        }
    }

    @Test func `A fixed port is used, released at once, and reported if another program has it`() async throws {
        let port = try await freePort()
        for _ in 0..<3 {
            let token = try await run("listen 0 \(port) localhost") { uri in
                #expect(uri == "http://localhost:\(port)/back")
                _ = try await CurlSession().send(HTTPRequest(.get, "\(uri)?a"), TransferOptions())
            }
            #expect(token == "http://localhost:\(port)/back?a\n")
        }
        let other = try RawServer.responding("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        let taken = try Self.port(of: other.url)
        for host in ["-", "localhost"] {
            let problem = await problem("listen 0 \(taken) \(host)")
            #expect(problem.contains("can't listen at \(host == "-" ? "127.0.0.1" : host):\(taken)"), "\(problem)")
            #expect(problem.contains("another program uses the port"), "\(problem)")
        }
        #expect(log.values.contains("transport error: \(NEVOD_TRANSPORT_TRANSIENT)"))
    }

    /// A port that was free at both addresses a moment ago.
    private func freePort() async throws -> Int {
        let listener = try LoopbackListener(RedirectURI(path: "/", host: .localhost))
        defer { listener.stop() }
        return try Self.port(of: listener.url)
    }

    /// Posts a form like a page of another site.
    private static func post(
        _ body: String, to uri: String, type: String = "application/x-www-form-urlencoded; charset=utf-8"
    ) async throws -> Int {
        var request = try HTTPRequest(.post, uri, body: .bytes(Array(body.utf8)))
        try request.setHeader("Content-Type", type)
        try request.setHeader("Origin", "https://server.example")
        return try await CurlSession().send(request, TransferOptions()).status
    }

    @Test func `A posted form arrives with its body`() async throws {
        let token = try await run("listen \(NEVOD_LISTEN_FORM_POST) 0 -") { uri async throws in
            #expect(try await CurlSession().send(HTTPRequest(.get, "\(uri)?code=c"), TransferOptions()).status == 404)
            #expect(try await Self.post("code=c", to: uri, type: "text/plain") == 415)
            #expect(try await Self.post("code=c&state=s", to: uri) == 200)
        }
        #expect(token.hasSuffix("/back\ncode=c&state=s"), "\(token)")
    }

    @Test(arguments: [
        ("0 0 example.com", "its host \"example.com\" is not one of 127.0.0.1, [::1], localhost"),
        ("0 0 0.0.0.0", "its host \"0.0.0.0\" is not one of"), ("0 0 LOCALHOST", "is not one of"),
        ("0 65536 -", "its port 65536 is larger than 65535"), ("0 0 - back", "\"back\" is not a path"),
        ("0 0 - /a?b", "is not a path"),
    ])
    func `Invalid options end the flow`(options: String, words: String) async throws {
        let problem = await problem("listen \(options)")
        #expect(problem.contains("its listen is invalid: ") && problem.contains(words), "\(problem)")
        #expect(log.values.first == "listen: \(NEVOD_INTERNAL)")
    }

    @Test func `An unknown critical option is unsupported; an ignorable one is ignored`() async throws {
        #expect(try await run("listen 2 0 -") == "unsupported")
        #expect(log.values.first == "listen: \(NEVOD_UNSUPPORTED)")
        let token = try await run("listen 65536 0 -") { uri in
            _ = try await CurlSession().send(HTTPRequest(.get, uri), TransferOptions())
        }
        #expect(token.hasSuffix("/back\n"))
    }
}
