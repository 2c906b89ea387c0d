import NevodHostFoundation

/// An interceptor that uses the exchange, which knows the number of the attempt.
struct Tracing: RequestInterceptor {
    func adapt(_ exchange: inout Exchange) async throws {
        try exchange.request.setHeader("X-Attempt", String(exchange.attempt))
    }
}

/// Writes a credential and marks it as such, so that it is redacted and stays at its origin.
struct TenantKey: RequestInterceptor {
    let key: String

    func adapt(_ exchange: inout Exchange) async throws {
        try exchange.edit(as: .token("TenantKey")) { request in try request.setHeader("X-Tenant", key) }
    }
}

/// Observes the outcome of each attempt and can't change it.
struct Statistics: OutcomeObserver {
    let count: @Sendable (Int?) -> Void

    func observe(_ exchange: Exchange, _ outcome: Result<HTTPResponse, TransportError>) async {
        count((try? outcome.get())?.status)
    }
}

/// Writes the parts of an entry, each on a line.
final class Lines: NetworkLogger {
    private let write: @Sendable (String) -> Void

    init(write: @escaping @Sendable (String) -> Void) {
        self.write = write
    }

    func isEnabled(_ level: LogLevel) -> Bool { level >= .info }

    func write(_ level: LogLevel, _ message: String, _ metadata: LogMetadata) {
        for pair in metadata.pairs { write("\(pair.name): \(pair.value)") }
    }
}

func severalInterceptors(keychain: some KeyValueStorage) async throws {
    let storage = TokenStorage<APIKeyToken>(storage: keychain, key: .apiKey)
    let refreshBlock: AuthenticationInterceptor<APIKeyToken>.RefreshStrategy = { _ in throw NetworkError.unauthorized }
    let logger = Lines { line in
        if line.hasPrefix("request.X-API-Key") || line.hasPrefix("request.X-Tenant") { print(line) }
    }

    let provider = NetworkProvider(
        config: config,
        interceptor: InterceptorChain([
            LoggingInterceptor(logger: logger, logLevel: .verbose),
            HeadersInterceptor(headers: ["User-Agent": "MyApp/1.0"]),
            AuthenticationInterceptor(tokenStorage: storage, refreshStrategy: refreshBlock),
            Tracing(),
            TenantKey(key: "tenant-7"),
            Statistics { status in print("status \(status ?? 0)") },
        ])
    )

    let stats = SimpleGetRoute<Verified, AppDomains>(endpoint: "/stats", domain: .adminAPI)
    print("logged: \(try await provider.perform(stats).scheme)")
}

/// A provider's limits, set for all requests and for one.
func limits() async throws {
    var config = config
    config.retryPolicy = RetryPolicy(maxAttempts: 4, baseDelay: 0.5, maxDelay: 20)
    config.rateLimit = RateLimitConfiguration(requests: 50, interval: 1)
    let provider = NetworkProvider(config: config)

    let options = RequestOptions(timeout: .seconds(5), redirects: .none, retryPolicy: RetryPolicy.none)
    let terms = SimpleGetRoute<Verified, AppDomains>(endpoint: "/public/terms", domain: .mainAPI)
    print("limits: \(try await provider.perform(terms, options: options).scheme)")
}
