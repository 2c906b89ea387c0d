public import Foundation
public import NevodHost

extension NetworkProvider {
    /// Creates a provider with one service, for requests without a route. Bodies are encoded and decoded as JSON.
    ///
    /// - Parameter timeout: the limit for all attempts and redirects of a request together, in seconds.
    public static func quick(
        baseURL: some URLRepresentation, timeout: TimeInterval = 30, retryPolicy: RetryPolicy = .default,
        rateLimit: RateLimitConfiguration? = nil, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder(), session: any HTTPTransport = CurlSession(),
        interceptor: any RequestInterceptor = InterceptorChain([]), logger: (any NetworkLogger)? = nil
    ) -> NetworkProvider {
        quick(
            baseURL: baseURL, timeout: .seconds(timeout) as Duration?, retryPolicy: retryPolicy, rateLimit: rateLimit,
            jsonEncoder: jsonEncoder, jsonDecoder: jsonDecoder,
            session: session, interceptor: interceptor, logger: logger)
    }

    /// Creates a provider with one service, for requests without a route. Bodies are encoded and decoded as JSON.
    ///
    /// - Parameter timeout: the limit for all attempts and redirects of a request together; nil for none.
    public static func quick(
        baseURL: some URLRepresentation, timeout: Duration?, retryPolicy: RetryPolicy = .default,
        rateLimit: RateLimitConfiguration? = nil, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder(), session: any HTTPTransport = CurlSession(),
        interceptor: any RequestInterceptor = InterceptorChain([]), logger: (any NetworkLogger)? = nil
    ) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(
                environments: [DefaultDomain.default: SimpleEnvironment(baseURL: baseURL)], timeout: timeout,
                retryPolicy: retryPolicy, rateLimit: rateLimit, jsonEncoder: jsonEncoder, jsonDecoder: jsonDecoder),
            session: session, interceptor: interceptor, logger: logger)
    }
}
