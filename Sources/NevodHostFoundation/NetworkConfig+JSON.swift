public import Foundation
public import NevodHost

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
    /// - Parameter timeout: the limit for all attempts and redirects of a request together; nil for none.
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
