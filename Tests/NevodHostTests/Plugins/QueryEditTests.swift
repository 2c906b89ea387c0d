import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests the query items of `add_query`, over real HTTP and against Python.
struct QueryEditTests {
    private func instance(_ items: [(String, String)]) throws -> SchemeInstance {
        var settings: SchemeSettings = [:]
        func hex(_ text: String) -> String { text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
        for (name, value) in items { settings.add("edit", .text("query \(hex(name)) \(hex(value))")) }
        return try TestPlugin.edits.get().scheme().makeInstance(settings: settings)
    }

    @Test func `All byte values are encoded as Python's quote does`() throws {
        let bytes = (0...255).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        let instance = try TestPlugin.edits.get().scheme().makeInstance(settings: ["edit": .text("query \(bytes) \(bytes)")])
        var request = try HTTPRequest(.get, "http://h/")
        try instance.authorize(&request, attempt: 1)
        let quoted = try Command.python("import urllib.parse; print(urllib.parse.quote(bytes(range(256)), safe=''))")[0]
        #expect(request.target == "/?\(quoted)=\(quoted)")
    }

    @Test func `Two items of one name are kept, also beside the caller's; a retry and a redirect don't double them`() async throws
    {
        let first = SingleUse()
        let server = try ScriptedServer { request in
            if first.begin() { return .init(status: 503) }
            return request.target.hasPrefix("/1") ? .init(status: 307, headers: ["Location: /2?" + request.query]) : .init()
        }
        let instance = try instance([("k", "1"), ("k", "2"), ("k", "2")])
        let provider = NetworkProvider(session: CurlSession(), interceptor: TokenInterceptor(instance.token))
        let policy = RetryPolicy(maxAttempts: 2, baseDelay: .zero, isBudgeted: false)
        _ = try await provider.send(
            HTTPRequest(.get, "\(server.url)/1?k=own"), RequestOptions(retryPolicy: policy))
        #expect(
            server.requests.map(\.target) == [
                "/1?k=own&k=1&k=2&k=2", "/1?k=own&k=1&k=2&k=2", "/2?k=own&k=1&k=2&k=2",
            ])
    }

    @Test func `A request that is authorized again carries each item once`() throws {
        let instance = try instance([("k", "1"), ("k", "2")])
        var request = try HTTPRequest(.get, "http://h/?k=own")
        for attempt in 1...3 { try instance.authorize(&request, attempt: attempt) }
        #expect(request.target == "/?k=own&k=1&k=2")
        #expect(request.addedQueryItems.count == 2)
    }
}

/// Tests tokens on requests that aren't completed by a provider.
struct BareRequestTests {
    @Test func `A token on a bare request sees every line that is then sent`() async throws {
        let server = try ScriptedServer()
        let instance = try TestPlugin.view.get().scheme().makeInstance()
        for body in [HTTPBody.none, .bytes([1, 2, 3]), .stream(.of([[1], [2]], length: 2))] {
            var request = try HTTPRequest(.post, "\(server.url)/p?q", body: body)
            try request.setHeader("X-Own", "1")
            try instance.token.authorize(&request)
            _ = try await CurlSession().send(request, TransferOptions())
            let sent = try #require(server.requests.last)
            let own = sent.headers.filter { !$0.name.hasPrefix("V-") }
            func all(_ name: String) -> [String] { sent.headers.filter { $0.name == name }.map(\.value) }
            func hex(_ text: String) -> String {
                text.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
            }
            #expect(own.first?.name == "Host")
            #expect(all("V-Name") == own.map { hex($0.name) })
            #expect(all("V-Value") == own.map { hex($0.value) })
            #expect(all("V-Authority") == [sent["Host"]])
        }
    }
}
