public import Foundation
public import NevodHost

extension JSONEncoder: BodyEncoder {
    public var contentType: String { "application/json" }

    public func body(of value: some Encodable) throws -> [UInt8] {
        Array(try encode(value))
    }
}

extension JSONDecoder: BodyDecoder {
    public func value<Value: Decodable>(_ type: Value.Type, in body: [UInt8]) throws -> Value {
        try decode(type, from: Data(body))
    }
}

extension Data: UndecodedBody {
    public init(undecodedBody body: [UInt8]) {
        self.init(body)
    }
}

extension NetworkConfig {
    /// Creates a configuration that encodes and decodes bodies as JSON.
    ///
    /// - Parameter timeout: the limit for all attempts and redirects of a request together, in seconds.
    public init<Domain: ServiceDomain>(
        environments: [Domain: any NetworkEnvironmentProviding], timeout: TimeInterval = 30,
        retryPolicy: RetryPolicy = .default, rateLimit: RateLimitConfiguration? = nil, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder()
    ) {
        self.init(
            environments: environments, timeout: .seconds(timeout) as Duration?, retryPolicy: retryPolicy, rateLimit: rateLimit,
            jsonEncoder: jsonEncoder,
            jsonDecoder: jsonDecoder)
    }

    /// Creates a configuration that encodes and decodes bodies as JSON.
    ///
    /// - Parameter timeout: the limit for all attempts and redirects of a request together; nil for no limit.
    public init<Domain: ServiceDomain>(
        environments: [Domain: any NetworkEnvironmentProviding], timeout: Duration?,
        retryPolicy: RetryPolicy = .default, rateLimit: RateLimitConfiguration? = nil, jsonEncoder: JSONEncoder = JSONEncoder(),
        jsonDecoder: JSONDecoder = JSONDecoder()
    ) {
        self.init(
            environments: environments, timeout: timeout, retryPolicy: retryPolicy, rateLimit: rateLimit, encoder: jsonEncoder,
            decoder: jsonDecoder)
    }
}

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
    /// - Parameter timeout: the limit for all attempts and redirects of a request together; nil for no limit.
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

extension NetworkError {
    /// The body of the response.
    public var responseData: Data? { responseBody.map { Data($0) } }

    /// Decodes the response's body, where many servers describe the error.
    public func decode<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder = JSONDecoder()) throws -> Value {
        try decoder.decode(type, from: responseData ?? Data())
    }
}
