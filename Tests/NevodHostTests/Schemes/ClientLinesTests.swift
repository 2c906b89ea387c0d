import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests that a flow's requests look like the requests of the client that needs the token, at a server that binds its sessions to
/// that.
struct ClientLinesTests {
    /// Issues `t<n>` for each login and refresh, and accepts it only from the client that requested it.
    private final class BindingServer: Sendable {
        private struct State {
            var clients: [String] = []
            var isExpired = false
        }

        private final class Box: Sendable { let value = Locked(State()) }
        private let box = Box()
        private let server: ScriptedServer
        var url: String { server.url }
        var requests: [ScriptedServer.Request] { server.requests }

        init() throws {
            let box = box
            server = try ScriptedServer { request in
                let client = "\(request["User-Agent"] ?? "none") \(request["Accept-Language"] ?? "none")"
                return box.value.withLock { state in
                    guard request.target == "/api" else {
                        state.clients.append(client)
                        state.isExpired = false
                        return .init(body: request.target == "/logout" ? "" : "t\(state.clients.count)")
                    }
                    let isKnown = request["X-Token"] == "t\(state.clients.count)" && state.clients.last == client
                    return .init(status: isKnown && !state.isExpired ? 200 : 401)
                }
            }
        }

        func expire() { box.value.withLock { $0.isExpired = true } }

        /// The flows' paths, with the values of a header line.
        func flows(_ name: String) -> [String] {
            requests.filter { $0.target != "/api" }.map { "\($0.target) \($0[name] ?? "none")" }
        }
    }

    private let server: BindingServer

    init() throws {
        server = try BindingServer()
    }

    private func session() throws -> SchemeSession {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(settings: ["mode": "exchange", "url": .text(server.url)])
        return SchemeSession(instance, storage: InMemoryStorage())
    }

    private func get(
        _ session: SchemeSession, _ lines: KeyValuePairs<String, String>, by interceptors: [any RequestInterceptor] = []
    ) async throws -> Int {
        var request = try HTTPRequest(.get, "\(server.url)/api")
        for (name, value) in lines { try request.setHeader(name, value) }
        return try await NetworkProvider(
            session: CurlSession(), interceptor: InterceptorChain(interceptors + [session.interceptor])
        ).send(request, RequestOptions(redirects: .none, retryPolicy: RetryPolicy.none)).status
    }

    @Test func `Login, renewal and logout are those of the request's client`() async throws {
        let session = try session()
        let lines: KeyValuePairs = ["User-Agent": "app/1", "Accept-Language": "de", "Accept": "application/json", "X-Other": "x"]
        #expect(try await get(session, lines) == 200)
        server.expire()
        #expect(try await get(session, lines) == 200)
        try await session.logout()
        #expect(server.flows("User-Agent") == ["/login app/1", "/refresh app/1", "/logout app/1"])
        #expect(server.flows("Accept-Language") == ["/login de", "/refresh de", "/logout de"])
        // If it is asked for JSON, the server sends no login page.
        for name in ["Accept", "X-Other"] {
            #expect(!server.flows(name).contains { $0.hasSuffix(" application/json") || $0.hasSuffix(" x") })
        }
    }

    @Test func `The lines of an interceptor count, as they do for the request`() async throws {
        #expect(try await get(session(), [:], by: [HeadersInterceptor(headers: ["User-Agent": "app/2"])]) == 200)
        #expect(server.flows("User-Agent") == ["/login app/2"])
    }

    @Test func `A renewal is that of the client that needs it`() async throws {
        let session = try session()
        #expect(try await get(session, ["User-Agent": "one"]) == 200)
        // Another client's session would be rejected forever if the renewal looked like the first client's.
        #expect(try await get(session, ["User-Agent": "two"]) == 200)
        #expect(server.flows("User-Agent") == ["/login one", "/refresh two"])
    }

    @Test func `A request without such lines leaves the flow's as they are`() async throws {
        #expect(try await get(session(), ["Accept": "*/*"]) == 200)
        for name in ["User-Agent", "Accept-Language", "Accept"] { #expect(server.flows(name) == ["/login none"]) }
    }

    @Test func `A scheme's own line wins, and a credential is no client's`() throws {
        var caller = try HTTPRequest(.get, "http://h/")
        try caller.setHeader("user-agent", "app")
        try caller.addHeader("Accept-Language", "de")
        try caller.addHeader("accept-language", "en")
        try caller.writeCredential("Accept", "secret", adding: false)
        var request = try HTTPRequest(.post, "http://h/login")
        try request.setHeader("USER-AGENT", "scheme")
        ClientLines(of: caller).add(to: &request)
        #expect(request.headers.values(of: "User-Agent") == ["scheme"])
        #expect(request.headers.values(of: "Accept-Language") == ["de", "en"])
        #expect(!request.headers.contains("Accept"))
    }
}
