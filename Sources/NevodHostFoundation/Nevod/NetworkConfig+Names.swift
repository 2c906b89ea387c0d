public import Foundation
public import NevodHost

extension NetworkConfig {
    /// Creates a configuration with Nevod's parameters, in its order.
    ///
    /// - Parameters:
    ///   - environments: the environment of each service.
    ///   - timeout: the limit for all attempts and redirects of a request together, in seconds.
    ///   - retries: the number of attempts after the first, with the waits of `RetryPolicy.default`; nil for its number.
    ///   - rateLimit: limits the requests to all services together; nil for no limit.
    ///   - jsonEncoder: encodes bodies that are `Encodable` values.
    ///   - jsonDecoder: decodes responses that are `Decodable` values.
    ///   - retryPolicy: takes precedence over `retries`.
    @_disfavoredOverload
    public init<Domain: ServiceDomain>(
        environments: [Domain: any NetworkEnvironmentProviding], timeout: TimeInterval = 30, retries: Int? = nil,
        rateLimit: RateLimitConfiguration? = nil, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder(), retryPolicy: RetryPolicy? = nil
    ) {
        self.init(
            environments: environments, timeout: .seconds(timeout) as Duration?,
            retryPolicy: RetryPolicy(retryPolicy, retries: retries), rateLimit: rateLimit, jsonEncoder: jsonEncoder,
            jsonDecoder: jsonDecoder)
    }

    /// Creates a configuration from those of several modules, each with services of its own type.
    ///
    /// - Parameters:
    ///   - environmentConfigurations: the environment of each service. The last one counts for a service that occurs twice; a key
    ///     that isn't a `ServiceDomain` is ignored, since no route can name it.
    ///   - timeout: the limit for all attempts and redirects of a request together, in seconds.
    ///   - retries: the number of attempts after the first, with the waits of `RetryPolicy.default`; nil for its number.
    ///   - rateLimit: limits the requests to all services together; nil for no limit.
    ///   - jsonEncoder: encodes bodies that are `Encodable` values.
    ///   - jsonDecoder: decodes responses that are `Decodable` values.
    ///   - retryPolicy: takes precedence over `retries`.
    public init(
        environmentConfigurations: [[AnyHashable: any NetworkEnvironmentProviding]], timeout: TimeInterval = 30,
        retries: Int? = nil, rateLimit: RateLimitConfiguration? = nil, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder(), retryPolicy: RetryPolicy? = nil
    ) {
        self.init(
            environments: [DefaultDomain: any NetworkEnvironmentProviding](), timeout: timeout, retries: retries,
            rateLimit: rateLimit, jsonEncoder: jsonEncoder, jsonDecoder: jsonDecoder, retryPolicy: retryPolicy)
        for (domain, environment) in environmentConfigurations.joined() {
            if let domain = domain.base as? any ServiceDomain { setEnvironment(environment, for: domain) }
        }
    }

    /// The environment of a service, or the error of a request to it.
    @_disfavoredOverload  // Without a type from the context, the method that returns an optional is meant.
    public func environment(
        for domain: some ServiceDomain
    ) -> Result<any NetworkEnvironmentProviding, NetworkError> {
        guard let environment: any NetworkEnvironmentProviding = environment(for: domain) else {
            return .failure(.missingEnvironment(domain: domain.identifier))
        }
        return .success(environment)
    }

    /// The base URL of a service, or the error of a request to it.
    public func baseURL(for domain: some ServiceDomain) -> Result<URL, NetworkError> {
        environment(for: domain).flatMap { (environment: any NetworkEnvironmentProviding) in
            let text = environment.baseURL.urlString
            return URL(string: text).map { .success($0) } ?? .failure(.invalidURL)
        }
    }

    /// The number of attempts after the first.
    public var retries: Int { max(1, retryPolicy.maxAttempts) - 1 }

    /// The encoder of bodies; a new one if the configuration's is of another type.
    public var jsonEncoder: JSONEncoder { encoder as? JSONEncoder ?? JSONEncoder() }

    /// The decoder of responses; a new one if the configuration's is of another type.
    public var jsonDecoder: JSONDecoder { decoder as? JSONDecoder ?? JSONDecoder() }
}

extension NevodNamed where Self == NetworkConfig {
    /// The timeout in seconds; infinite if there is none.
    @_disfavoredOverload  // Without a type from the context, the property is the duration.
    public var timeout: TimeInterval {
        self.NevodHost::timeout.map { $0 / .seconds(1) } ?? .infinity
    }
}
