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
    /// The others wait. HTTP/1.1 takes a connection for each.
    public var maxConcurrentRequestsPerOrigin = 100

    public init<Domain: ServiceDomain>(
        environments: [Domain: any NetworkEnvironmentProviding], timeout: Duration? = .seconds(30)
    ) {
        self.timeout = timeout
        for (domain, environment) in environments { self.environments[DomainKey(domain)] = environment }
    }

    /// Of a provider that sends requests with absolute URLs only.
    init() {
        timeout = .seconds(60)
    }

    /// Nil for a domain that was not configured.
    public func environment(for domain: some ServiceDomain) -> (any NetworkEnvironmentProviding)? {
        environments[DomainKey(domain)]
    }
}
