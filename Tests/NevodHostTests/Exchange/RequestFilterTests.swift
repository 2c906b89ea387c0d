import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests over real HTTP what a request knows about its route, and which decisions depend on it.
struct RequestFilterTests {
    private enum Other: ServiceDomain {
        case api
        var identifier: String { "api" }
    }

    private struct Payment: Route {
        typealias Response = String

        var domain: Service { .api }
        var endpoint: String { "/pay?amount=1" }
        var method: HTTPMethod { .put }
        var auth: AuthRequirement { .bearerToken }
    }

    private let server: ScriptedServer
    private let elsewhere: ScriptedServer

    init() throws {
        let elsewhere = try ScriptedServer()
        self.elsewhere = elsewhere
        server = try ScriptedServer { request in
            switch request.target.split(separator: "/").last {
            case "down": .init(status: 503)
            case "moved": .init(status: 302, headers: ["Location: \(elsewhere.url)/there"])
            default: .init()
            }
        }
    }

    private func config(_ retryPolicy: RetryPolicy = .none) -> NetworkConfig {
        var config = NetworkConfig(
            environments: [
                Service.api: SimpleEnvironment(baseURL: "\(server.url)/api"),
                .cdn: SimpleEnvironment(baseURL: "\(server.url)/cdn"),
            ], retryPolicy: retryPolicy)
        config.setEnvironment(SimpleEnvironment(baseURL: "\(server.url)/other"), for: Other.api)
        return config
    }

    private func route(_ domain: Service, _ endpoint: String = "/a") -> SimpleGetRoute<String, Service> {
        SimpleGetRoute(endpoint: endpoint, domain: domain)
    }

    /// Records what interceptors see of the route.
    private struct Recording: RequestInterceptor {
        let seen: Collected<String>
        func adapt(_ exchange: inout Exchange) async throws { seen.append(exchange.route?.description ?? "none") }
    }

    /// Recreates each request, like an interceptor that knows nothing about routes may do.
    private struct Rewriting: RequestInterceptor {
        func adapt(_ request: HTTPRequest) async throws -> HTTPRequest {
            var made = try HTTPRequest(request.method, request.url, body: request.body)
            try made.setHeader("X-Rewritten", "yes")
            return made
        }
    }

    @Test func `A request and its exchange know their domain and route`() async throws {
        let seen = Collected<String>()
        let provider = NetworkProvider(
            config: config(),
            interceptor: InterceptorChain([Rewriting(), Recording(seen: seen), TokenInterceptor(Token(value: "t"))]))
        let request = try Payment().makeRequest(with: provider.config)
        let known = try #require(request.route)
        #expect(known.domain == "api" && known.endpoint == "/pay?amount=1" && known.method == .put && known.auth == .bearerToken)
        #expect(known.typeName == "Payment" && known.description == "PUT /pay (Payment, domain \"api\")")
        #expect(known.isOf(Service.api) && !known.isOf(Service.cdn) && !known.isOf(Other.api))
        _ = try await provider.perform(Payment())
        _ = try await provider.send(HTTPRequest(.get, "\(server.url)/x"))
        #expect(seen.values == [known.description, "none"])
        #expect(server.requests.map { $0["X-Rewritten"] } == ["yes", "yes"])
    }

    @Test func `Services on one host each get their own credential`() async throws {
        let tokens = TokenStorage<Token>(storage: InMemoryStorage())
        try await tokens.save(Token(value: "t"))
        let bearer = AuthenticationInterceptor(
            tokenStorage: tokens, refreshStrategy: { _ in throw NetworkError.unauthorized },
            shouldAuthenticate: .domains(Service.api))
        let key = TokenInterceptor(APIKeyToken(apiKey: "k"), shouldAuthenticate: .domains(Service.cdn))
        let others = TokenStorage<Token>(storage: InMemoryStorage())
        try await others.save(Token(value: "o"))
        // A closure also sees the route.
        let other = AuthenticationInterceptor(
            tokenStorage: others, refreshStrategy: { _ in throw NetworkError.unauthorized },
            shouldAuthenticate: { $0.route?.isOf(Other.api) == true })
        let provider = NetworkProvider(config: config(), interceptor: InterceptorChain([other, bearer, key]))
        func carried() -> [String?]? { server.requests.last.map { [$0["Authorization"], $0["X-API-Key"]] } }
        _ = try await provider.perform(route(.api))
        #expect(carried() == ["Bearer t", nil])
        _ = try await provider.perform(route(.cdn))
        #expect(carried() == [nil, "k"])
        // A service of another type with the first one's identifier.
        _ = try await provider.perform(SimpleGetRoute<String, Other>(endpoint: "/a", domain: .api))
        #expect(carried() == ["Bearer o", nil])
        _ = try await provider.send(HTTPRequest(.get, "\(server.url)/api/a"))
        #expect(carried() == [nil, nil])
    }

    @Test func `A redirect to another origin keeps the route, and loses the credential`() async throws {
        let seen = Collected<String>()
        let token = TokenInterceptor(Token(value: "t"), shouldAuthenticate: .domains(Service.api))
        let provider = NetworkProvider(config: config(), interceptor: InterceptorChain([token, Recording(seen: seen)]))
        _ = try await provider.perform(route(.api, "/moved"))
        #expect(seen.values.count == 2 && Set(seen.values).count == 1 && seen.values[0].hasPrefix("GET /moved"))
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer t"])
        #expect(elsewhere.requests.map { $0["Authorization"] } == [nil])
    }

    @Test func `The origins of a service are those of its environment`() async throws {
        var config = config()
        config.setEnvironment(SimpleEnvironment(baseURL: "\(elsewhere.url)/cdn"), for: Service.cdn)
        let provider = NetworkProvider(
            config: config,
            interceptor: TokenInterceptor(Token(value: "t"), shouldAuthenticate: .origins(of: Service.api, in: config)))
        _ = try await provider.send(HTTPRequest(.get, "\(server.url)/next-page"))
        _ = try await provider.perform(route(.cdn))
        #expect(server.requests.map { $0["Authorization"] } == ["Bearer t"])
        #expect(elsewhere.requests.map { $0["Authorization"] } == [nil])
        // No environment, and no URL: no origin.
        config.setEnvironment(SimpleEnvironment(baseURL: "no URL"), for: Service.api)
        #expect(!RequestFilter.origins(of: Service.api, in: config).matches(try HTTPRequest(.get, "\(server.url)/a")))
    }

    @Test func `Filters combine`() throws {
        let filter = RequestFilter.domains(Service.api, .cdn).except(.routes(Payment.self)).or(
            .origins(of: Other.api, in: config()))
        let config = config()
        #expect(filter.matches(try route(.cdn).makeRequest(with: config)))
        #expect(filter.matches(try HTTPRequest(.get, "\(server.url)/x")))
        #expect(!filter.matches(try HTTPRequest(.get, "\(elsewhere.url)/x")))
        let payment = RequestFilter.domains(Service.api).except(.routes(Payment.self))
        #expect(!payment.matches(try Payment().makeRequest(with: config)))
        #expect(
            RequestFilter.routes(Payment.self, SimpleGetRoute<String, Service>.self).matches(
                try route(.api).makeRequest(with: config)))
        #expect(!RequestFilter.routes(SimpleGetRoute<Int, Service>.self).matches(try route(.api).makeRequest(with: config)))
    }

    @Test func `A retry policy is set for a service or a route`() async throws {
        var config = config(.none)
        config.setRetryPolicy(RetryPolicy(maxAttempts: 3, baseDelay: .zero), for: .domains(Service.api, .cdn))
        config.setRetryPolicy(RetryPolicy(maxAttempts: 2, baseDelay: .zero), for: .domains(Service.cdn))
        let provider = NetworkProvider(config: config)
        func attempts(_ domain: Service, _ options: RequestOptions? = nil) async -> Int {
            let before = server.requests.count
            _ = await provider.request(route(domain, "/down"), options: options)
            return server.requests.count - before
        }
        #expect(await attempts(.api) == 3)
        #expect(await attempts(.cdn) == 2)
        #expect(await attempts(.cdn, RequestOptions(retryPolicy: RetryPolicy(maxAttempts: 1))) == 1)
        let before = server.requests.count
        _ = await provider.request(SimpleGetRoute<String, Other>(endpoint: "/down", domain: .api))
        #expect(server.requests.count - before == 1)
    }

    @Test func `A redirect policy is set for a service`() async throws {
        var config = config()
        config.setRedirects(.none, for: .domains(Service.cdn))
        let provider = NetworkProvider(config: config)
        func status(_ domain: Service, _ options: RequestOptions? = nil) async throws -> Int {
            try await provider.send(route(domain, "/moved").makeRequest(with: config), options).status
        }
        #expect(try await status(.api) == 200)
        #expect(try await status(.cdn) == 302)
        #expect(try await status(.cdn, RequestOptions(timeout: .seconds(30))) == 302)
        #expect(try await status(.cdn, RequestOptions(redirects: .follow(limit: 1))) == 200)
        var options = RequestOptions()
        options.redirects = .follow(limit: 1)
        #expect(try await status(.cdn, options) == 200)
        #expect(try await status(.api, RequestOptions(redirects: .none)) == 302)
    }
}
