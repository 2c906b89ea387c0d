public import Foundation
public import NevodHost

extension NetworkProvider {
    /// Creates a provider whose parts may be nil.
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

    /// Creates a provider with one service, with Nevod's parameters, in its order.
    ///
    /// - Parameters:
    ///   - baseURL: the service's absolute `http` or `https` URL.
    ///   - timeout: the limit for all attempts and redirects of a request together, in seconds.
    ///   - retries: the number of attempts after the first, with the waits of `RetryPolicy.default`; nil for its number.
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
