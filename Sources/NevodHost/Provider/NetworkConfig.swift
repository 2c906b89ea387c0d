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
    /// Writes the bodies that are `Encodable` values. Without one, such a body fails the request with a reason.
    public var encoder: any BodyEncoder
    /// Reads the answers that are `Decodable` values.
    public var decoder: any BodyDecoder

    /// - Parameters:
    ///   - environments: where each service is. A route to another one fails with ``NetworkError/invalidURL(_:)``.
    ///   - timeout: for all attempts and redirects of a request together; nil: no limit.
    ///   - retryPolicy: when a request is sent again that failed for now.
    ///   - rateLimit: for all services together; nil: none.
    ///   - encoder: for bodies that are `Encodable` values; without one, such a body fails the request with a reason.
    ///   - decoder: for answers that are `Decodable` values; likewise.
    ///
    /// `NevodHostFoundation` has an initializer of the same spelling that sets both, and where either can be meant, that one is.
    @_disfavoredOverload
    public init<Domain: ServiceDomain>(
        environments: [Domain: any NetworkEnvironmentProviding], timeout: Duration? = .seconds(30),
        retryPolicy: RetryPolicy = .default, rateLimit: RateLimitConfiguration? = nil, encoder: (any BodyEncoder)? = nil,
        decoder: (any BodyDecoder)? = nil
    ) {
        self.timeout = timeout
        self.retryPolicy = retryPolicy
        self.rateLimit = rateLimit
        self.encoder = encoder ?? MissingCoder()
        self.decoder = decoder ?? MissingCoder()
        for (domain, environment) in environments { setEnvironment(environment, for: domain) }
    }

    /// Of a provider that sends requests with absolute URLs only.
    init() {
        timeout = .seconds(60)
        retryPolicy = .none
        (encoder, decoder) = (MissingCoder(), MissingCoder())
    }

    /// For services of another type than the initializer's, and instead of one that is there.
    public mutating func setEnvironment(_ environment: any NetworkEnvironmentProviding, for domain: some ServiceDomain) {
        environments[DomainKey(domain)] = environment
    }

    /// Nil for a domain that was not configured.
    public func environment(for domain: some ServiceDomain) -> (any NetworkEnvironmentProviding)? {
        environments[DomainKey(domain)]
    }
}
