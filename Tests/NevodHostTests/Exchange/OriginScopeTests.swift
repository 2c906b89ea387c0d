import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests over real HTTP that a credential goes only to its own origins.
struct OriginScopeTests {
    private let here: ScriptedServer
    private let elsewhere: ScriptedServer

    init() throws {
        let elsewhere = try ScriptedServer()
        self.elsewhere = elsewhere
        here = try ScriptedServer { request in
            switch request.target {
            case "/away": .init(status: 302, headers: ["Location: \(elsewhere.url)/there"])
            default: .init()
            }
        }
    }

    private var scope: OriginScope { get throws { try OriginScope(here.url) } }

    /// Counts its calls, so that a test sees whether it ran.
    private struct Counting: OutcomeObserver {
        let calls: Collected<String>

        func adapt(_ exchange: inout Exchange) async throws {
            calls.append("adapt")
            try exchange.request.setHeader("X-Counted", "yes")
        }

        func retry(
            _ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>
        ) async throws -> Bool {
            calls.append("retry")
            return false
        }

        func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async { calls.append("observe") }
    }

    /// Writes its own credential, which the chain knows by what the interceptor provides.
    private struct Own: RequestInterceptor {
        var provides: Set<AuthRequirement> { [AuthRequirement("own")] }
        func adapt(_ exchange: inout Exchange) async throws { try exchange.request.setHeader("X-Own", "o") }
    }

    private struct Demanding: Route {
        typealias Response = EmptyResponse
        var domain: Service { .api }
        var endpoint: String { "/a" }
        var method: HTTPMethod { .get }
        var auth: AuthRequirement { AuthRequirement("own") }
    }

    private func carried(_ server: ScriptedServer, _ name: String) -> [String?] { server.requests.map { $0[name] } }

    @Test func `A limited interceptor is left out elsewhere, whatever it does`() async throws {
        let calls = Collected<String>()
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: InterceptorChain([
                Counting(calls: calls).limited(to: .all).limited(to: .origins(try scope)),
                HeadersInterceptor(headers: ["X-Partner": "p"]).limited(to: .origins(try scope)),
                TokenInterceptor(Token(value: "t"), shouldAuthenticate: .origins(try scope)),
            ]))
        _ = try await provider.send(HTTPRequest(.get, "\(elsewhere.url)/a"))
        #expect(calls.values.isEmpty)
        _ = try await provider.send(HTTPRequest(.get, "\(here.url)/a"))
        #expect(calls.values == ["adapt", "observe", "retry"])
        for name in ["X-Counted", "X-Partner", "Authorization"] {
            #expect(carried(elsewhere, name) == [nil])
            #expect(carried(here, name) == [name == "X-Counted" ? "yes" : name == "X-Partner" ? "p" : "Bearer t"])
        }
    }

    @Test func `A bound interceptor fails a request to another origin before it is sent, and names both`() async throws {
        let bound = InterceptorChain([
            HeadersInterceptor(headers: ["X-Trace": "1"]), TokenInterceptor(Token(value: "t-4711")),
        ]).bound(to: try scope)
        let provider = NetworkProvider(session: CurlSession(), interceptor: bound)
        await #expect {
            _ = try await provider.send(HTTPRequest(.get, "\(elsewhere.url)/a?secret=1"))
        } throws: { error in
            guard case NetworkError.authorization(let cause) = error, let cause = cause as? OriginScopeError else { return false }
            let text = "\(error)"
            return cause.origin.description == elsewhere.url && cause.scope.origins.map(\.description) == [here.url]
                && cause.credential == "HeadersInterceptor" && text.contains(here.url) && text.contains(elsewhere.url)
                && !text.contains("4711") && !text.contains("secret=1")
        }
        #expect(elsewhere.requests.isEmpty)
        _ = try await provider.send(HTTPRequest(.get, "\(here.url)/a"))
        #expect(carried(here, "Authorization") == ["Bearer t-4711"])
    }

    @Test func `A redirect out of the scope is followed without the credential`() async throws {
        let provider = NetworkProvider(
            session: CurlSession(), interceptor: TokenInterceptor(Token(value: "t")).bound(to: try scope))
        let response = try await provider.send(HTTPRequest(.get, "\(here.url)/away"))
        #expect(response.status == 200)
        #expect(carried(here, "Authorization") == ["Bearer t"])
        #expect(carried(elsewhere, "Authorization") == [nil])
    }

    @Test func `A redirect between two origins of the scope doesn't carry the credential`() async throws {
        let both = try OriginScope(here.url, elsewhere.url)
        let provider = NetworkProvider(session: CurlSession(), interceptor: TokenInterceptor(Token(value: "t")).bound(to: both))
        _ = try await provider.send(HTTPRequest(.get, "\(here.url)/away"))
        #expect(carried(elsewhere, "Authorization") == [nil])
        _ = try await provider.send(HTTPRequest(.get, "\(elsewhere.url)/direct"))
        #expect(carried(elsewhere, "Authorization") == [nil, "Bearer t"])
    }

    @Test func `A route isn't satisfied by an interceptor that was left out`() async throws {
        let config = NetworkConfig(environments: [Service.api: SimpleEnvironment(baseURL: elsewhere.url)])
        let provider = NetworkProvider(config: config, interceptor: Own().limited(to: .origins(try scope)))
        await #expect {
            _ = try await provider.perform(Demanding())
        } throws: { error in
            if case NetworkError.authorization(let cause) = error { cause is UnmetRequirementError } else { false }
        }
        #expect(elsewhere.requests.isEmpty)
        let own = NetworkProvider(
            config: config, interceptor: Own().limited(to: .origins(OriginScope(of: Service.api, in: config))))
        _ = try await own.perform(Demanding())
        #expect(carried(elsewhere, "X-Own") == ["o"])
    }

    @Test func `A token that is renewed is bound, too`() async throws {
        let storage = TokenStorage<Token>(storage: InMemoryStorage())
        try await storage.save(Token(value: "t"))
        let renewals = Collected<String>()
        let refusing = try ScriptedServer { _ in .init(status: 401) }
        let provider = NetworkProvider(
            session: CurlSession(),
            interceptor: AuthenticationInterceptor(
                tokenStorage: storage,
                refreshStrategy: { _ in
                    renewals.append("renewed")
                    return Token(value: "new")
                }
            ).limited(to: .origins(try scope)))
        #expect(try await provider.send(HTTPRequest(.get, "\(refusing.url)/a")).status == 401)
        // A foreign server's refusal says nothing about the token.
        #expect(renewals.values.isEmpty)
        #expect(carried(refusing, "Authorization") == [nil])
    }

    @Test func `Origins are compared by scheme, host and port`() throws {
        let scope = try OriginScope("https://API.example.com", "https://b.example.com:8443/", "https://api.example.com:443")
        #expect(scope.description == "https://api.example.com, https://b.example.com:8443")
        for url in ["https://api.example.com/x?y", "https://API.EXAMPLE.COM:443", "https://b.example.com:8443/#f"] {
            #expect(scope.contains(try Origin(ofURL: url)), "\(url)")
        }
        for url in [
            "http://api.example.com", "https://api.example.com:8443", "https://x.api.example.com", "https://example.com",
            "https://b.example.com", "https://api.example.com.", "https://api.example.com.evil.test",
        ] {
            #expect(!scope.contains(try Origin(ofURL: url)), "\(url)")
        }
        #expect(OriginScope([]).description == "no origin")
    }

    @Test(arguments: [
        "https://a.test/v1", "https://a.test?q", "https://a.test/#f", "https://a.test//", "https://u:p@a.test", "a.test",
        "ftp://a.test", "https://", "https://a.test:0", "https://a.test:99999", "https://a.test\\b", "https://a.test /",
    ])
    func `An origin is no more than scheme, host and port`(_ text: String) {
        #expect(throws: InvalidRequestError.self) { try Origin(text) }
    }
}
