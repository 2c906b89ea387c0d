import Dispatch
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests 2xx responses that are challenges because of their media type, as a plugin in C sees them. The server's header lines say
/// what the plugin does.
@Suite(.blocking)
struct ChallengeTypeTests {
    private let lines = Collected<String>()

    private func provider(
        _ needs: String = "cb", _ scheme: String = "plain", types: [String] = ["application/xhtml+xml", "TEXT/html"]
    ) throws -> NetworkProvider {
        let session = try ResponseScheme.session(scheme, needs: needs, types: types, lines)
        return NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
    }

    private static func options(streamed: Bool) -> RequestOptions {
        RequestOptions(
            delivery: streamed ? .streamed : .collected(limit: 64 << 20), redirects: .none, retryPolicy: RetryPolicy.none)
    }

    private static func server(_ body: String, status: Int = 200, _ headers: String...) throws -> ScriptedServer {
        try ScriptedServer { _ in ScriptedServer.Response(status: status, headers: headers, body: body) }
    }

    private func get(
        _ url: String, method: HTTPMethod = .get, from provider: NetworkProvider, streamed: Bool
    ) async throws -> HTTPResponse {
        try await provider.send(HTTPRequest(method, "\(url)/"), Self.options(streamed: streamed))
    }

    @Test(
        arguments: ["text/html", "text/html; charset=utf-8", "Text/HTML;x", " text/html\t;x", "application/xhtml+xml"],
        [true, false])
    func `A page of a type that the scheme names is shown once, with its body`(type: String, isStreamed: Bool) async throws {
        let server = try Self.server("<form id=1>", "Content-Type: \(type)")
        let response = try await get(server.url, from: provider(), streamed: isStreamed)
        #expect(lines.values == ["2 on_response 200: 11 bytes, 0 digests, \"<form id\""])
        #expect(try await response.body.collect() == Array("<form id=1>".utf8))
        #expect(lines.values.count == 1 && server.requests.count == 1)
    }

    @Test(
        arguments: [
            "text/plain", "text/htm", "text/html5", "text", "text/", "/html", "text/html, text/plain", "", "text /html",
            "x;text/html",
        ], [true, false])
    func `No other type is shown`(type: String, isStreamed: Bool) async throws {
        let server = try Self.server("<form>", "Content-Type: \(type)", "X-Verdict: challenge")
        let response = try await get(server.url, from: provider("cb", "flows"), streamed: isStreamed)
        #expect(try await response.body.collect() == Array("<form>".utf8))
        #expect(lines.values.isEmpty && server.requests.count == 1)
    }

    @Test(arguments: [(404, "GET"), (500, "GET"), (204, "GET"), (304, "GET"), (200, "HEAD")], [true, false])
    func `Neither another status nor a response without a body is such a challenge`(
        of: (status: Int, method: String), isStreamed: Bool
    ) async throws {
        let server = try RawServer.responding(
            "HTTP/1.1 \(of.status) X\r\nContent-Type: text/html\r\nConnection: close\r\n"
                + (of.method == "GET" && of.status > 399 ? "Content-Length: 1\r\n\r\nx" : "\r\n"))
        let response = try await get(
            server.url, method: HTTPMethod(validating: of.method), from: provider(), streamed: isStreamed)
        #expect(response.status == of.status)
        _ = try await response.body.collect()
        #expect(lines.values.isEmpty)
    }

    /// A verdict about a page for which nobody waits would start a login.
    @Test func `A page that is still arriving when its time is up is not shown`() async throws {
        let isOver = Latch()
        let server = try RawServer { connection, _ in
            guard connection.readRequest() != nil else { return }
            connection.write("HTTP/1.1 200 X\r\nContent-Type: text/html\r\nContent-Length: 100\r\nX-Verdict: challenge\r\n\r\n")
            isOver.waitOnThread()
        }
        defer { isOver.set() }
        let provider = try provider("cb", "flows")
        var options = Self.options(streamed: true)
        options.timeout = .milliseconds(200)
        await #expect(throws: NetworkError.self) { try await provider.send(HTTPRequest(.get, "\(server.url)/"), options) }
        #expect(lines.values.allSatisfy { !$0.contains("on_response") }, "\(lines.values)")
    }

    @Test(arguments: [true, false])
    func `A long page is cut for the scheme, and whole for the caller`(isStreamed: Bool) async throws {
        let page = String(repeating: "<p>page</p>", count: 100_000)
        let server = try Self.server(page, "Content-Type: text/html")
        let response = try await get(server.url, from: provider(), streamed: isStreamed)
        #expect(lines.values == ["2 on_response 200: 65536 bytes, cut, 0 digests, \"<p>page<\""])
        #expect(try await response.body.collect() == Array(page.utf8))
    }

    @Test(arguments: [true, false])
    func `A page that is a challenge runs one flow for all requests, and they are sent again`(isStreamed: Bool) async throws {
        let server = try ScriptedServer { request in
            request["X-Token"] == "challenge2"
                ? .init(headers: ["Content-Type: application/json"], body: "{}")
                : .init(headers: ["Content-Type: text/html", "X-Verdict: challenge"], body: "<form>")
        }
        let provider = try provider("cb", "flows")
        try await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    try await get(server.url, from: provider, streamed: isStreamed).body.collect()
                }
            }
            for try await body in group { #expect(body == Array("{}".utf8)) }
        }
        #expect(lines.values.filter { $0.contains("challenge 200: 6 bytes") }.count == 1)
    }

    @Test(arguments: [true, false])
    func `A page that stays one reaches the caller after the last flow`(isStreamed: Bool) async throws {
        let server = try Self.server("<form>", "Content-Type: text/html", "X-Verdict: challenge")
        let response = try await get(server.url, from: provider("cb", "flows"), streamed: isStreamed)
        #expect(try await response.body.collect() == Array("<form>".utf8))
        #expect(server.requests.map { $0["X-Token"] } == ["login1", "challenge2", "challenge3", "challenge4", "challenge5"])
    }

    /// The server sends the rest only after the caller has the beginning.
    private static func slow(_ type: String, beginning: String) throws -> (server: RawServer, arrived: Latch) {
        let arrived = Latch()
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write(
                "HTTP/1.1 200 X\r\nContent-Type: \(type)\r\nContent-Length: \(beginning.utf8.count + 3)\r\n\r\n\(beginning)")
            let hasArrived = DispatchSemaphore(value: 0)
            Task {
                await arrived.wait()
                hasArrived.signal()
            }
            hasArrived.wait()
            connection.write("end")
        }
        return (server, arrived)
    }

    @Test(arguments: ["text/event-stream", "application/json"])
    func `A slow stream of another type isn't held back`(type: String) async throws {
        let (server, arrived) = try Self.slow(type, beginning: "data: 1\n")
        let response = try await get(server.url, from: provider(), streamed: true)
        guard case .stream(let stream) = response.body else { return #expect(Bool(false), "\(response.body)") }
        #expect(try await stream.next() == Array("data: 1\n".utf8))
        arrived.set()
        #expect(try await stream.next() == Array("end".utf8))
        #expect(lines.values.isEmpty)
    }

    @Test func `A slow page is held back up to the limit, and not beyond`() async throws {
        let beginning = String(repeating: "x", count: (64 << 10) + 1)
        let (server, arrived) = try Self.slow("text/html", beginning: beginning)
        let response = try await get(server.url, from: provider(), streamed: true)
        #expect(lines.values == ["2 on_response 200: 65536 bytes, cut, 0 digests, \"xxxxxxxx\""])
        guard case .stream(let stream) = response.body else { return #expect(Bool(false), "\(response.body)") }
        #expect(try await stream.next() == Array(beginning.utf8))
        arrived.set()
        #expect(try await stream.next() == Array("end".utf8))
    }

    @Test func `Without the need of the body, nothing of a page is held back`() async throws {
        let (server, arrived) = try Self.slow("text/html", beginning: "<p>")
        let response = try await get(server.url, from: provider("c"), streamed: true)
        #expect(lines.values == ["2 on_response 200: 0 bytes, 0 digests, \"\""])
        guard case .stream(let stream) = response.body else { return #expect(Bool(false), "\(response.body)") }
        #expect(try await stream.next() == Array("<p>".utf8))
        arrived.set()
    }

    /// The scheme sees that it is cut, so that it doesn't take the missing part as absent.
    @Test func `A page that breaks off reaches a caller that streams as far as it came`() async throws {
        let server = try RawServer { connection, _ in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 X\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\n<form>")
        }
        let response = try await get(server.url, from: provider(), streamed: true)
        #expect(lines.values == ["2 on_response 200: 6 bytes, cut, 0 digests, \"<form>\""])
        guard case .stream(let stream) = response.body else { return #expect(Bool(false), "\(response.body)") }
        #expect(try await stream.next() == Array("<form>".utf8))
        await #expect(throws: TransportError.self) { try await stream.next() }
    }

    @Test(arguments: [
        ["text/*"], ["text"], ["text/html;charset=utf-8"], [" text/html"], ["text/ht ml"], [""],
        ["text/\(String(repeating: "x", count: 251))"],
        Array(repeating: "text/html", count: 17),
    ])
    func `Wrong types refuse the instance`(types: [String]) throws {
        let error = #expect(throws: PluginError.self) { try provider(types: types) }
        #expect(error?.description.contains("plain.needs.challenge_type") == true, "\(error?.description ?? "")")
    }

    @Test func `Sixteen types may be named`() async throws {
        let server = try Self.server("<form>", "Content-Type: a/16")
        _ = try await get(server.url, from: provider(types: (1...16).map { "a/\($0)" }), streamed: false)
        #expect(lines.values.count == 1)
    }
}
