import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a scheme whose flows are `async` functions, in a library built as authors ship it, driven by the real host.
struct FlowProbeTests {
    /// A date in the far future, so that a token that lasts a minute is still valid by the interceptor's real clock.
    private static let farAhead: Int64 = 8_000_000_000

    private static let plugin = Result { try Plugin(named: "FlowProbe") }

    private final class Person: UserInteraction {
        let shown = Collected<String>()
        func answers(to questions: [FlowQuestion]) async throws -> [String: Secret] {
            Dictionary(uniqueKeysWithValues: questions.map { ($0.name, Secret("\($0.name)&")) })
        }
        func show(_ text: String, url: String) async throws { shown.append("\(text) \(url)") }
        func open(_ url: String) async throws {}
    }

    private func instance(_ server: ScriptedServer, fault: String = "nothing") throws -> SchemeInstance {
        try Self.plugin.get().scheme().makeInstance(
            settings: ["server": .text("\(server.url)/ignored"), "fault": .text(fault)],
            clock: HostClock { Self.farAhead * 1_000_000_000 })
    }

    private static func server(_ api: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Response) throws
        -> ScriptedServer
    {
        let logins = Collected<Bool>()
        return try ScriptedServer { request in
            switch request.target {
            case "/login":
                logins.append(true)
                return logins.values.count == 1
                    ? ScriptedServer.Response(status: 503) : .json(#"{"token":"t","expires_in":60}"#)
            case "/refresh": return ScriptedServer.Response(body: "renewed")
            case "/logout": return ScriptedServer.Response()
            default: return api(request)
            }
        }
    }

    @Test func `A flow logs in, refreshes and logs out`() async throws {
        let server = try Self.server { ScriptedServer.Response(status: $0["X-Token"] == "renewed" ? 200 : 401) }
        let person = Person()
        let session = SchemeSession(try instance(server), storage: InMemoryStorage(), interaction: person)
        try await session.login()
        let token = try #require(try await session.coordinator.read().token)
        #expect(token.issued.bytes == Secret("t-1"))
        #expect(token.expiresAt == UnixTime(seconds: Self.farAhead + 60))
        #expect(token.account == "user&")
        #expect(person.shown.values == ["Logged in \(server.url)/welcome"])

        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 200)
        try await session.logout()
        #expect(try await session.coordinator.read().token == nil)
        #expect(
            server.requests.map { "\($0.target) \($0["X-Token"] ?? "-") \(String(decoding: $0.body, as: UTF8.self))" } == [
                "/login - password=password%26&user=user%26", "/login - password=password%26&user=user%26", "/a t-1 ",
                "/refresh - {\"token\":\"t-1\"}", "/a renewed ", "/logout - token=renewed",
            ])
    }

    @Test func `A challenge is handled by a flow, or by a retry alone`() async throws {
        let server = try Self.server { request in
            switch request["X-Nonce"] {
            case nil: ScriptedServer.Response(status: 401, headers: ["WWW-Authenticate: Probe nonce=\"one\""])
            case "one" where request.target == "/a": ScriptedServer.Response()
            case "one": ScriptedServer.Response(status: 401, headers: ["WWW-Authenticate: Basic realm=x, Stale nonce=two"])
            default: ScriptedServer.Response()
            }
        }
        let session = SchemeSession(try instance(server), storage: InMemoryStorage(), interaction: Person())
        try await session.login()
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 200)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/b")).status == 200)
        #expect(server.requests.dropFirst(2).map { $0["X-Nonce"] ?? "-" } == ["-", "one", "one", "two"])
    }

    @Test func `Without a browser, a flow falls back to a device code`() async throws {
        let server = try Self.server { _ in ScriptedServer.Response() }
        let person = FlowPerson(can: { if case .open = $0 { false } else { true } })
        let session = SchemeSession(
            try instance(server, fault: "browserless"), storage: InMemoryStorage(), account: "ada", interaction: person)
        try await session.login()
        let token = try #require(try await session.coordinator.read().token)
        #expect(token.issued.bytes == Secret("device"))
        #expect(token.account == "ada")
        #expect(person.seen.values == ["shown Enter ABCD at \(server.url)/device"])
        // Without a person, the address can't be shown either.
        let alone = SchemeSession(try instance(server, fault: "browserless"), storage: InMemoryStorage())
        let error = try await #require(throws: PluginError.self) { try await alone.login() }
        #expect(error.description.contains("asks for browser, browser, but got no answer"), "\(error)")
    }

    @Test func `A flow that suspends outside its steps is an error`() async throws {
        let session = SchemeSession(
            try instance(Self.server { _ in ScriptedServer.Response() }, fault: "sleeps"), storage: InMemoryStorage())
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        #expect("\(error)".contains("suspended outside flow"))
    }

    @Test func `A flow that ignores cancellation ends`() async throws {
        let instance = try instance(Self.server { _ in ScriptedServer.Response() }, fault: "swallows")
        let session = SchemeSession(instance, storage: InMemoryStorage())
        let login = Task { try await session.login() }
        login.cancel()
        await #expect(throws: CancellationError.self) { try await login.value }
    }

    /// Each flow is a separate task in a library without threads of its own: it runs on the caller's.
    @Test func `A thousand concurrent logins run on one thread`() throws {
        let instance = try instance(Self.server { _ in ScriptedServer.Response() })
        let flows = try (0..<1000).map { _ in try #require(try Flow(.login, of: instance)) }
        for flow in flows {
            let (action, _) = try flow.step(.start(token: nil, response: nil), now: UnixTime(seconds: 1), state: nil)
            guard case .ask(let questions) = action else {
                Issue.record("\(action)")
                return
            }
            #expect(questions.map(\.name) == ["user", "password"])
        }
        for (index, flow) in flows.enumerated() {
            let answers = ["user": Secret("\(index)"), "password": Secret("p")]
            let (action, _) = try flow.step(.answers(answers), now: UnixTime(seconds: 1), state: nil)
            guard case .send(let request) = action, case .bytes(let body) = request.request.body else {
                Issue.record("\(action)")
                return
            }
            #expect(String(decoding: body, as: UTF8.self) == "password=p&user=\(index)")
        }
    }
}
