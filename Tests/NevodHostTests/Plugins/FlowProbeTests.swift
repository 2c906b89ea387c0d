import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// A scheme whose flows are `async` functions, in the library that an author would ship, driven by the real host.
struct FlowProbeTests {
    /// A year in which no test runs, so that a token of a minute has not expired for the interceptor, whose clock is the real one.
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

    private static func server(_ api: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer) throws
        -> ScriptedServer
    {
        let logins = Collected<Bool>()
        return try ScriptedServer { request in
            switch request.target {
            case "/login":
                logins.append(true)
                return logins.values.count == 1
                    ? ScriptedServer.Answer(status: 503) : .json(#"{"token":"t","expires_in":60}"#)
            case "/refresh": return ScriptedServer.Answer(body: "renewed")
            case "/logout": return ScriptedServer.Answer()
            default: return api(request)
            }
        }
    }

    @Test func `A flow logs in, refreshes and logs out`() async throws {
        let server = try Self.server { ScriptedServer.Answer(status: $0["X-Token"] == "renewed" ? 200 : 401) }
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

    @Test func `A challenge is answered by a flow, or by a retry alone`() async throws {
        let server = try Self.server { request in
            switch request["X-Nonce"] {
            case nil: ScriptedServer.Answer(status: 401, headers: ["WWW-Authenticate: Probe nonce=\"one\""])
            case "one" where request.target == "/a": ScriptedServer.Answer()
            case "one": ScriptedServer.Answer(status: 401, headers: ["WWW-Authenticate: Basic realm=x, Stale nonce=two"])
            default: ScriptedServer.Answer()
            }
        }
        let session = SchemeSession(try instance(server), storage: InMemoryStorage(), interaction: Person())
        try await session.login()
        let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/a")).status == 200)
        #expect(try await provider.send(HTTPRequest(.get, "\(server.url)/b")).status == 200)
        #expect(server.requests.dropFirst(2).map { $0["X-Nonce"] ?? "-" } == ["-", "one", "one", "two"])
    }

    @Test func `A flow that suspends outside its steps is an error`() async throws {
        let session = SchemeSession(
            try instance(Self.server { _ in ScriptedServer.Answer() }, fault: "sleeps"), storage: InMemoryStorage())
        let error = try await #require(throws: PluginError.self) { try await session.login() }
        #expect("\(error)".contains("suspended outside flow"))
    }

    @Test func `A flow that ignores cancellation ends`() async throws {
        let instance = try instance(Self.server { _ in ScriptedServer.Answer() }, fault: "swallows")
        let session = SchemeSession(instance, storage: InMemoryStorage())
        let login = Task { try await session.login() }
        login.cancel()
        await #expect(throws: CancellationError.self) { try await login.value }
    }

    /// Each in a task of its own, with a library that has one thread: whichever calls.
    @Test func `A thousand concurrent logins run on one thread`() throws {
        let instance = try instance(Self.server { _ in ScriptedServer.Answer() })
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
