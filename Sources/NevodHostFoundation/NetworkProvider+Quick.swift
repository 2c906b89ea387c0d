public import Foundation
public import NevodHost

extension NetworkProvider {
    /// A provider with one service, for requests without a route, with JSON for bodies and answers.
    ///
    /// - Parameter timeout: in seconds, for all attempts and redirects of a request together.
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

    /// A provider with one service, for requests without a route, with JSON for bodies and answers.
    ///
    /// - Parameter timeout: for all attempts and redirects of a request together; nil: no limit.
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
