public import Foundation
public import NevodHost

extension NetworkConfig {
    /// With JSON for bodies and answers.
    ///
    /// - Parameter timeout: in seconds, for all attempts and redirects of a request together.
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

    /// With JSON for bodies and answers.
    ///
    /// - Parameter timeout: for all attempts and redirects of a request together; nil: no limit.
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
