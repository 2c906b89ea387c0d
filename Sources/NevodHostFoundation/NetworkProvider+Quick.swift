public import Foundation
public import NevodHost

extension NetworkProvider {
    /// A provider with one service, for requests without a route, with JSON for bodies and answers.
    ///
    /// - Parameter timeout: in seconds, for all attempts and redirects of a request together.
    public static func quick(
        baseURL: some URLRepresentation, timeout: TimeInterval = 30, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder(), session: any HTTPTransport = CurlSession(),
        interceptor: any RequestInterceptor = InterceptorChain([])
    ) -> NetworkProvider {
        quick(
            baseURL: baseURL, timeout: .seconds(timeout) as Duration?, jsonEncoder: jsonEncoder, jsonDecoder: jsonDecoder,
            session: session, interceptor: interceptor)
    }

    /// A provider with one service, for requests without a route, with JSON for bodies and answers.
    ///
    /// - Parameter timeout: for all attempts and redirects of a request together; nil: no limit.
    public static func quick(
        baseURL: some URLRepresentation, timeout: Duration?, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder(), session: any HTTPTransport = CurlSession(),
        interceptor: any RequestInterceptor = InterceptorChain([])
    ) -> NetworkProvider {
        NetworkProvider(
            config: NetworkConfig(
                environments: [DefaultDomain.default: SimpleEnvironment(baseURL: baseURL)], timeout: timeout,
                jsonEncoder: jsonEncoder, jsonDecoder: jsonDecoder),
            session: session, interceptor: interceptor)
    }
}
