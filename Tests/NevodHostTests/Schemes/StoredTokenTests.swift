import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// A scheme with flows that doesn't decode its tokens gets the stored bytes.
struct StoredTokenTests {
    @Test func `The stored token reaches authorize and on_response, also after a refresh and in the next process`() async throws {
        let server = try ScriptedServer { request in
            ScriptedServer.Response(status: request["X-Token"] == "t" && request.target == "/second" ? 401 : 200)
        }
        let storage = InMemoryStorage()
        func provider() throws -> NetworkProvider {
            let instance = try TestPlugin.bare.get().scheme().makeInstance()
            return NetworkProvider(
                session: CurlSession(), interceptor: SchemeSession(instance, storage: storage).interceptor)
        }
        let first = try provider()
        for path in ["/first", "/second", "/third"] {
            #expect(try await first.send(HTTPRequest(.get, "\(server.url)\(path)")).status == 200)
        }
        #expect(try await provider().send(HTTPRequest(.get, "\(server.url)/fourth")).status == 200)
        #expect(
            server.requests.map { "\($0.target) \($0["X-Token"] ?? "-") \($0["X-Account"] ?? "-") \($0["X-Seen"] ?? "-")" } == [
                "/first t ada -", "/second t ada t", "/second t+ ada t", "/third t+ ada t+", "/fourth t+ ada -",
            ])
        #expect(server.requests.allSatisfy { $0["X-Expiry"] == "4102444800000000000 1 0" })
    }

    @Test func `A token is refused at another scheme's requests, as a decoded one is`() async throws {
        let bare = try TestPlugin.bare.get().scheme().makeInstance()
        let issued = IssuedToken(bytes: Secret("t"), expiresAt: nil, account: "")
        let foreign = PluginToken(stored: issued, TokenPurpose(plugin: "other", scheme: "bare", origins: []))
        var request = try HTTPRequest(.get, "http://127.0.0.1:1/")
        #expect(throws: PluginError.self) { try bare.token(foreign).authorize(&request) }
        #expect(request.headers["X-Token"] == nil)
        try PluginToken(issued, of: bare).authorize(&request)
        #expect(request.headers["X-Token"] == "t")
        // A scheme's settings may be its credential. Then there is no token.
        var without = try HTTPRequest(.get, "http://127.0.0.1:1/")
        try bare.token.authorize(&without)
        #expect(without.headers["X-Token"] == nil)
    }
}
