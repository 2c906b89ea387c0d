/// Names a service that routes are sent to. A ``NetworkConfig`` maps it to an environment.
///
/// ```swift
/// enum Service: ServiceDomain {
///     case api, cdn
///     var identifier: String { self == .api ? "api" : "cdn" }
/// }
/// ```
public protocol ServiceDomain: Hashable, Sendable {
    /// Identifies the service among the services of its type.
    var identifier: String { get }
}

/// The environment of a service.
public protocol NetworkEnvironmentProviding: Sendable {
    /// The type of the base URL: `String`, or Foundation's `URL`.
    associatedtype BaseURL: URLRepresentation = String

    /// The service's absolute `http` or `https` URL. Its path comes before every endpoint's path, and its query before every
    /// query.
    var baseURL: BaseURL { get }
}

/// An environment with a fixed base URL.
public struct SimpleEnvironment: NetworkEnvironmentProviding {
    public let baseURL: String

    /// - Parameter baseURL: an absolute `http` or `https` URL, validated with the first request.
    public init(baseURL: some URLRepresentation) {
        self.baseURL = baseURL.urlString
    }
}

/// A type that can represent a URL: a string, or another library's type.
public protocol URLRepresentation: Sendable {
    /// The URL as text. It is sent unchanged, but characters that RFC 3986 forbids are percent-encoded.
    var urlString: String { get }
}

extension String: URLRepresentation {
    public var urlString: String { self }
}

extension RequestFilter {
    /// Selects requests made from a route to any of these services. Requests made without a route are not selected.
    ///
    /// Services of other types are not selected, even with the same ``ServiceDomain/identifier``.
    public static func domains<Domain: ServiceDomain>(_ domains: Domain...) -> RequestFilter {
        let identifiers = Set(domains.map(\.identifier))
        return .route { identifiers.contains($0.domain) && $0.hasDomain(of: Domain.self) }
    }

    /// Selects requests to the origins of these services' environments, including requests made without a route, such as a
    /// request for the next page of a list.
    ///
    /// A service without an environment, or with an invalid base URL, adds no origin.
    public static func origins<Domain: ServiceDomain>(of domains: Domain..., in config: NetworkConfig) -> RequestFilter {
        .origins(OriginScope(domains, in: config))
    }
}

extension OriginScope {
    /// The origins of these services' environments. A service without an environment, or with an invalid base URL, adds no
    /// origin.
    public init<Domain: ServiceDomain>(of domains: Domain..., in config: NetworkConfig) {
        self.init(domains, in: config)
    }

    fileprivate init<Domain: ServiceDomain>(_ domains: [Domain], in config: NetworkConfig) {
        let urls = domains.compactMap { config.environment(for: $0)?.baseURL.urlString }
        self.init(urls.compactMap { try? Origin(ofURL: $0) })
    }
}

extension RouteDescription {
    /// Whether the route is sent to this service.
    public func isOf<Domain: ServiceDomain>(_ domain: Domain) -> Bool {
        self.domain == domain.identifier && hasDomain(of: Domain.self)
    }
}
