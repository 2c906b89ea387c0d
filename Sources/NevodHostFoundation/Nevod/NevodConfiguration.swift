public import Foundation
public import NevodHost

extension NetworkConfig {
    /// Creates a configuration with Nevod's parameters, in Nevod's order.
    ///
    /// - Parameters:
    ///   - environments: the environment of each service.
    ///   - timeout: the limit for all attempts and redirects of a request together, in seconds.
    ///   - retries: the number of attempts after the first, with the waits of `RetryPolicy.default`; nil for the default number.
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

    /// Creates a configuration from the environments of several modules, each with its own type of services.
    ///
    /// - Parameters:
    ///   - environmentConfigurations: the environment of each service. If a service occurs twice, its last environment counts. A
    ///     key that isn't a `ServiceDomain` is ignored, since no route can name it.
    ///   - timeout: the limit for all attempts and redirects of a request together, in seconds.
    ///   - retries: the number of attempts after the first, with the waits of `RetryPolicy.default`; nil for the default number.
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
    @_disfavoredOverload  // If the context gives no type, the method that returns an optional is chosen.
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
    @_disfavoredOverload  // If the context gives no type, the property is the duration.
    public var timeout: TimeInterval {
        self.NevodHost::timeout.map { $0 / .seconds(1) } ?? .infinity
    }
}

extension NevodNamed where Self == SimpleEnvironment {
    /// The base URL; `file:///` if the environment was made from a text that isn't a URL.
    @_disfavoredOverload  // If the context gives no type, the property is the text.
    public var baseURL: URL {
        URL(string: self.NevodHost::baseURL) ?? URL(fileURLWithPath: "/")
    }
}

extension RetryPolicy {
    /// Takes the policy; without one, the default policy, with the number of retries if that is given.
    init(_ policy: RetryPolicy?, retries: Int?) {
        guard let policy else {
            self = .default
            if let retries { maxAttempts = max(0, min(retries, 1_000_000)) + 1 }
            return
        }
        self = policy
    }
}

extension NevodNamed where Self == RetryPolicy {
    /// The maximum wait before the second attempt, in seconds.
    @_disfavoredOverload  // If the context gives no type, the property is the duration.
    public var baseDelay: TimeInterval {
        self.NevodHost::baseDelay / .seconds(1)
    }

    /// The maximum wait before any attempt, in seconds.
    @_disfavoredOverload
    public var maxDelay: TimeInterval {
        self.NevodHost::maxDelay / .seconds(1)
    }
}

extension RetryPolicy {
    /// The wait after an attempt, in seconds. With jitter, it is random, from zero to the maximum.
    ///
    /// - Parameter attempt: the number of the failed attempt, from 0, as Nevod counts. A negative one counts as 0.
    public func delay(for attempt: Int) -> TimeInterval {
        let longest = delay(after: max(0, min(attempt, 1_000_000)) + 1) / .seconds(1)
        return jitter ? .random(in: 0...max(0, longest)) : longest
    }

    /// Whether the number of attempts allows another one.
    ///
    /// - Parameter attempt: the number of the failed attempt, from 0, as Nevod counts.
    public func shouldRetry(attempt: Int) -> Bool {
        attempt < max(1, maxAttempts) - 1
    }

    /// Waits for `delay(for:)`. Throws `CancellationError` if the task is cancelled meanwhile.
    public func performDelay(for attempt: Int) async throws {
        try await Task.sleep(for: .seconds(min(delay(for: attempt), 1e9)))
    }
}

extension RateLimitConfiguration {
    /// Creates a limit with an interval in seconds.
    public init(requests: Int, perInterval: TimeInterval) {
        self.init(requests: requests, interval: perInterval)
    }

    /// The interval in seconds.
    public var perInterval: TimeInterval { interval / .seconds(1) }
}

extension RateLimiter {
    /// Creates a limiter.
    public convenience init(configuration: RateLimitConfiguration) {
        self.init(configuration)
    }
}

extension RateLimiting {
    /// The same as `RateLimiting.acquire()`.
    public func acquirePermit() async throws {
        try await acquire()
    }
}

extension NetworkProvider {
    /// Creates a provider, with defaults for parts that are nil.
    ///
    /// - Parameters:
    ///   - config: the environments of the services, and the settings for all requests.
    ///   - session: the transport; nil for a `CurlSession`.
    ///   - interceptor: an interceptor, or an `InterceptorChain`; nil for none.
    ///   - rateLimiter: asked before each attempt; by default a `RateLimiter` with the configuration's limit.
    ///   - logger: logs retries.
    @_disfavoredOverload
    public init(
        config: NetworkConfig, session: (any HTTPTransport)? = nil, interceptor: (any RequestInterceptor)? = nil,
        rateLimiter: (any RateLimiting)? = nil, logger: (any NetworkLogger)? = nil
    ) {
        self.init(
            config: config, session: session ?? CurlSession(), interceptor: interceptor ?? InterceptorChain([]),
            rateLimiter: rateLimiter, logger: logger, observer: nil)
    }

    /// Creates a provider with one service, with Nevod's parameters in Nevod's order.
    ///
    /// - Parameters:
    ///   - baseURL: the service's absolute `http` or `https` URL.
    ///   - timeout: the limit for all attempts and redirects of a request together, in seconds.
    ///   - retries: the number of attempts after the first, with the waits of `RetryPolicy.default`; nil for the default number.
    ///   - rateLimit: limits the requests; nil for no limit.
    ///   - retryPolicy: takes precedence over `retries`.
    ///   - jsonEncoder: encodes bodies that are `Encodable` values.
    ///   - jsonDecoder: decodes responses that are `Decodable` values.
    ///   - session: the transport; nil for a `CurlSession`.
    ///   - interceptor: an interceptor, or an `InterceptorChain`; nil for none.
    ///   - rateLimiter: asked before each attempt; by default a `RateLimiter` with `rateLimit`.
    ///   - logger: logs retries.
    @_disfavoredOverload
    public static func quick(
        baseURL: some URLRepresentation, timeout: TimeInterval = 30, retries: Int? = nil,
        rateLimit: RateLimitConfiguration? = nil, retryPolicy: RetryPolicy? = nil, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder(), session: (any HTTPTransport)? = nil,
        interceptor: (any RequestInterceptor)? = nil, rateLimiter: (any RateLimiting)? = nil,
        logger: (any NetworkLogger)? = nil
    ) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(
                environments: [DefaultDomain.default: SimpleEnvironment(baseURL: baseURL)], timeout: timeout,
                retries: retries, rateLimit: rateLimit, jsonEncoder: jsonEncoder, jsonDecoder: jsonDecoder,
                retryPolicy: retryPolicy),
            session: session, interceptor: interceptor, rateLimiter: rateLimiter, logger: logger)
    }
}

/// A type that has Nevod's properties, in Foundation's types, beside its own properties of the same names.
///
/// Extensions of this protocol declare them. In an extension of the type itself, they would hide the type's own properties from
/// files that import only this module.
public protocol NevodNamed {}

extension CookieToken: NevodNamed {}
extension NetworkConfig: NevodNamed {}
extension RetryPolicy: NevodNamed {}
extension SimpleEnvironment: NevodNamed {}
