/// The configuration of a ``NetworkProvider``: the environment of each service, and settings for all requests.
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
    private var retryRules: [(requests: RequestFilter, policy: RetryPolicy)] = []
    private var redirectRules: [(requests: RequestFilter, policy: RedirectPolicy)] = []

    /// Limits all attempts and redirects of a request together; nil for no limit.
    public var timeout: Duration?
    /// Decides when a failed request is sent again, unless ``setRetryPolicy(_:for:)`` has set another policy for it.
    public var retryPolicy: RetryPolicy
    /// Limits how many requests to all services start in an interval; nil for no limit.
    public var rateLimit: RateLimitConfiguration?
    /// Limits the requests in flight to one origin; further requests wait. With HTTP/1.1, each takes a connection.
    public var maxConcurrentRequestsPerOrigin = 100
    /// Encodes bodies that are `Encodable` values.
    public var encoder: any BodyEncoder
    /// Decodes responses that are `Decodable` values.
    public var decoder: any BodyDecoder

    /// Creates a configuration.
    ///
    /// `NevodHostFoundation` has an initializer with the same spelling that sets both coders; it takes precedence where both
    /// match.
    ///
    /// - Parameters:
    ///   - environments: the environment of each service. A route to any other service fails with
    ///     ``NetworkError/invalidURL(_:)``.
    ///   - timeout: limits all attempts and redirects of a request together; nil for no limit.
    ///   - retryPolicy: decides when a failed request is sent again.
    ///   - rateLimit: limits the requests to all services together; nil for no limit.
    ///   - encoder: encodes bodies that are `Encodable` values; if nil, requests with such a body fail.
    ///   - decoder: decodes responses that are `Decodable` values; if nil, requests for such values fail.
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

    /// Creates the configuration of a provider that only sends requests with absolute URLs.
    init() {
        timeout = .seconds(60)
        retryPolicy = .none
        (encoder, decoder) = (MissingCoder(), MissingCoder())
    }

    /// Sets or replaces the environment of a service. The service's type may differ from the initializer's.
    public mutating func setEnvironment(_ environment: any NetworkEnvironmentProviding, for domain: some ServiceDomain) {
        environments[DomainKey(domain)] = environment
    }

    /// Sets the retry policy for some requests, such as all requests to a service:
    /// `config.setRetryPolicy(.none, for: .domains(Service.api))`. If several policies apply, the last one set counts.
    /// ``RequestOptions/retryPolicy`` replaces them all.
    public mutating func setRetryPolicy(_ policy: RetryPolicy, for requests: RequestFilter) {
        retryRules.append((requests, policy))
    }

    /// Sets the redirect policy for some requests. If several policies apply, the last one set counts.
    /// ``RequestOptions/redirects`` replaces them all.
    public mutating func setRedirects(_ policy: RedirectPolicy, for requests: RequestFilter) {
        redirectRules.append((requests, policy))
    }

    func retryPolicy(for request: HTTPRequest) -> RetryPolicy {
        retryRules.last { $0.requests.matches(request) }?.policy ?? retryPolicy
    }

    /// Nil if none was set for the request.
    func redirects(for request: HTTPRequest) -> RedirectPolicy? {
        redirectRules.last { $0.requests.matches(request) }?.policy
    }

    /// Returns the environment of a service; nil if none was set.
    public func environment(for domain: some ServiceDomain) -> (any NetworkEnvironmentProviding)? {
        environments[DomainKey(domain)]
    }
}
