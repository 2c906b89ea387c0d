import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests over real HTTP which credentials a route's request carries.
struct AuthRequirementTests {
    private struct Page: Route {
        typealias Response = String

        var domain = Service.api
        var endpoint = "/page"
        var method = HTTPMethod.get
        var auth = AuthRequirement.automatic
    }

    private let server: ScriptedServer
    private let tokens = TokenStorage<Token>(storage: InMemoryStorage())
    private let renewals = Collected<String?>()

    init() throws {
        server = try ScriptedServer { request in
            ScriptedServer.Response(
                status: request.target.hasSuffix("/refused") ? 401 : 200, body: request.target == "/login" ? "t1" : "")
        }
    }

    /// Two services on one host.
    private var config: NetworkConfig {
        NetworkConfig(
            environments: [
                Service.api: SimpleEnvironment(baseURL: "\(server.url)/api"),
                .cdn: SimpleEnvironment(baseURL: "\(server.url)/cdn"),
            ], retryPolicy: .none)
    }

    private func provider(_ interceptors: any RequestInterceptor...) -> NetworkProvider {
        NetworkProvider(config: config, interceptor: InterceptorChain(interceptors))
    }

    private func bearer(
        _ filter: RequestFilter = .all, provides: Set<AuthRequirement> = [.bearerToken],
        _ renewed: @escaping @Sendable () async throws -> Token = { Token(value: "renewed") }
    ) async throws -> AuthenticationInterceptor<Token> {
        try await tokens.save(Token(value: "first"))
        return AuthenticationInterceptor(
            tokenStorage: tokens,
            refreshStrategy: { [renewals] old in
                renewals.append(old?.value)
                return try await renewed()
            }, shouldAuthenticate: filter, provides: provides)
    }

    private func hmac() throws -> SchemeInstance {
        try TestPlugin.hmac.get().scheme().makeInstance(settings: ["api-key": "demo", "secret": .text(DemoServer.secret)])
    }

    private func unmet(_ provider: NetworkProvider, _ route: Page) async -> UnmetRequirementError? {
        guard case .failure(.authorization(let error)) = await provider.request(route) else { return nil }
        return error as? UnmetRequirementError
    }

    // MARK: None

    @Test func `A login carries no token, and its 401 renews none`() async throws {
        let provider = try await provider(bearer())
        let result = await provider.request(Page(endpoint: "/refused", method: .post, auth: .none))
        guard case .failure(.unauthorized) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(server.requests.map { $0["Authorization"] } == [nil])
        #expect(renewals.values.isEmpty)
        // The same route without a requirement.
        _ = await provider.request(Page(endpoint: "/refused", method: .post))
        #expect(server.requests.map { $0["Authorization"] } == [nil, "Bearer first", "Bearer renewed"])
    }

    @Test func `A login does not wait for a renewal under way`() async throws {
        let (begun, mayEnd) = (Latch(), Latch())
        let provider = try await provider(
            bearer {
                begun.set()
                await mayEnd.wait()
                return Token(value: "renewed")
            })
        let waiting = Task { await provider.request(Page(endpoint: "/refused")) }
        await begun.wait()
        // It would wait forever, because the renewal only ends after it.
        _ = try await provider.perform(Page(auth: .none), options: RequestOptions(timeout: .seconds(30)))
        mayEnd.set()
        _ = await waiting.value
        #expect(server.requests.first { $0.target == "/api/page" }?["Authorization"] == nil)
        #expect(renewals.values == ["first"])
    }

    @Test func `A login obtains no first session of cookies, and changes none`() async throws {
        let logins = Collected<Int>()
        let storage = TokenStorage<CookieToken>(storage: InMemoryStorage())
        let cookies = CookieAuthenticationInterceptor(
            cookieStorage: storage,
            loginStrategy: {
                logins.append(1)
                return CookieToken(
                    sessionCookies: [Cookie(name: "sid", value: "s", domain: "127.0.0.1", isHostOnly: true)].compactMap(\.self))
            })
        let provider = provider(cookies)
        _ = try await provider.perform(Page(auth: .none))
        #expect(logins.values.isEmpty && server.requests.last?["Cookie"] == nil)
        #expect(await unmet(provider, Page(auth: .bearerToken)) != nil)
        #expect(logins.values.isEmpty)
        _ = try await provider.perform(Page(auth: .sessionCookie))
        #expect(logins.values == [1] && server.requests.last?["Cookie"] == "sid=s")
        _ = try await provider.perform(Page(auth: .none))
        #expect(server.requests.last?["Cookie"] == nil)
    }

    @Test func `A plugin's signature is left out too`() async throws {
        let instance = try hmac()
        let session = SchemeSession(instance, storage: InMemoryStorage())
        for interceptor in [TokenInterceptor(instance.token), session.interceptor] as [any RequestInterceptor] {
            let provider = try await provider(bearer(), interceptor)
            func carried(_ auth: AuthRequirement) async throws -> [Bool] {
                _ = try await provider.perform(Page(auth: auth))
                return ["Authorization", "X-Signature"].map { server.requests.last?[$0] != nil }
            }
            #expect(try await carried(.none) == [false, false])
            #expect(try await carried(.bearerToken) == [true, false])
            #expect(try await carried(AuthRequirement("hmac")) == [false, true])
            #expect(try await carried(.automatic) == [true, true])
        }
    }

    @Test func `A plugin with a login is not logged in for a route that needs none`() async throws {
        let instance = try TestPlugin.flow.get().scheme().makeInstance(
            settings: ["mode": "exchange", "url": .text(server.url)])
        let session = SchemeSession(instance, storage: InMemoryStorage(), provides: [.bearerToken])
        let provider = provider(session.interceptor)
        _ = try await provider.perform(Page(auth: .none))
        #expect(server.requests.map(\.target) == ["/api/page"])
        #expect(await unmet(provider, Page(auth: AuthRequirement(instance.scheme.id))) != nil)
        #expect(server.requests.map(\.target) == ["/api/page"])
        _ = try await provider.perform(Page(auth: .bearerToken))
        #expect(server.requests.map(\.target).contains("/login"))
    }

    @Test func `A signer given to the provider is left out too`() async throws {
        let provider = NetworkProvider(session: CurlSession(), signer: APIKeyToken(apiKey: "k"))
        for (auth, sent) in [(AuthRequirement.none, nil), (.apiKey, "k"), (.automatic, "k")] as [(AuthRequirement, String?)] {
            _ = try await provider.send(Page(auth: auth).makeRequest(with: config))
            #expect(server.requests.last?["X-API-Key"] == sent)
        }
    }

    // MARK: Requirements by name

    @Test func `A requirement that nothing provides fails the request before it is sent`() async throws {
        let provider = try await provider(bearer(), TokenInterceptor(APIKeyToken(apiKey: "k")))
        let error = await unmet(provider, Page(endpoint: "/page?key=s3cret", auth: AuthRequirement("partner-key")))
        #expect(error?.requirement == AuthRequirement("partner-key") && error?.route.method == .get)
        let text = error?.description ?? ""
        #expect(text.contains("partner-key") && text.contains("GET /page (") && text.contains("Page") && text.contains("\"api\""))
        #expect(!text.contains("s3cret") && !"\(error.map { NetworkError.authorization($0) } as Any)".contains("s3cret"))
        let request = try Page(auth: AuthRequirement("partner-key")).makeRequest(with: config)
        await #expect(throws: NetworkError.self) { try await provider.authorize(request) }
        #expect(server.requests.isEmpty && renewals.values.isEmpty)
    }

    @Test func `An interceptor whose predicate leaves the request out doesn't provide its requirement`() async throws {
        let provider = try await provider(bearer(.domains(Service.api)))
        #expect(await unmet(provider, Page(domain: .cdn, auth: .bearerToken)) != nil)
        _ = try await provider.perform(Page(auth: .bearerToken))
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer first"])
    }

    @Test func `A named requirement is met by its own interceptor only`() async throws {
        let key = TokenInterceptor(APIKeyToken(apiKey: "k"), provides: [AuthRequirement("partner-key"), .bearerToken])
        let provider = try await provider(bearer(), key)
        for (auth, carried) in [
            (AuthRequirement("partner-key"), [nil, "k"]), (.bearerToken, ["Bearer first", "k"]), (.none, [nil, nil]),
            (.automatic, ["Bearer first", "k"]),
        ] as [(AuthRequirement, [String?])] {
            _ = try await provider.perform(Page(auth: auth))
            #expect(server.requests.last.map { [$0["Authorization"], $0["X-API-Key"]] } == carried)
        }
    }

    /// An interceptor as a program would write it.
    private struct PartnerKey: RequestInterceptor {
        var provides: Set<AuthRequirement> { [AuthRequirement("partner-key")] }
        let retries: Collected<Int>

        func adapt(_ exchange: inout Exchange) async throws { try exchange.request.setHeader("X-Partner", "p") }
        func retry(_ exchange: inout Exchange, after outcome: Result<HTTPResponse, TransportError>) async throws -> Bool {
            retries.append(1)
            return false
        }
    }

    @Test func `A program's own interceptor takes part by saying what it provides`() async throws {
        let retries = Collected<Int>()
        let provider = provider(PartnerKey(retries: retries))
        _ = try await provider.perform(Page(auth: .none))
        #expect(await unmet(provider, Page(auth: .bearerToken)) != nil)
        #expect(server.requests.map { $0["X-Partner"] } == [nil] && retries.values.isEmpty)
        _ = try await provider.perform(Page(auth: AuthRequirement("partner-key")))
        _ = try await provider.perform(Page())
        #expect(server.requests.map { $0["X-Partner"] } == [nil, "p", "p"] && retries.values == [1, 1])
    }
}
