/// How a ``NetworkProvider`` works: where each service is, and what holds for all requests.
public struct NetworkConfig: Sendable {
    private struct DomainKey: Hashable {
        let type: ObjectIdentifier
        let identifier: String

        init<Domain: ServiceDomain>(_ domain: Domain) {
            type = ObjectIdentifier(Domain.self)
            identifier = domain.identifier
        }
    }

    private var environments: [DomainKey: any NetworkEnvironmentProviding] = [:]

    /// For all attempts and redirects of a request together; nil: no limit.
    public var timeout: Duration?
    /// When a request is sent again that failed for now.
    public var retryPolicy: RetryPolicy
    /// How many requests may start in which time, to all services together; nil: any number.
    public var rateLimit: RateLimitConfiguration?
    /// The others wait. HTTP/1.1 takes a connection for each.
    public var maxConcurrentRequestsPerOrigin = 100

    public init<Domain: ServiceDomain>(
        environments: [Domain: any NetworkEnvironmentProviding], timeout: Duration? = .seconds(30),
        retryPolicy: RetryPolicy = .default, rateLimit: RateLimitConfiguration? = nil
    ) {
        self.timeout = timeout
        self.retryPolicy = retryPolicy
        self.rateLimit = rateLimit
        for (domain, environment) in environments { self.environments[DomainKey(domain)] = environment }
    }

    /// Of a provider that sends requests with absolute URLs only.
    init() {
        timeout = .seconds(60)
        retryPolicy = .none
    }

    /// Nil for a domain that was not configured.
    public func environment(for domain: some ServiceDomain) -> (any NetworkEnvironmentProviding)? {
        environments[DomainKey(domain)]
    }
}
