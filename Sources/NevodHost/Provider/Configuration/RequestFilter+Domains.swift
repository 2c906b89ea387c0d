extension RequestFilter {
    /// Selects requests made from a route to any of these services; no request without a route.
    ///
    /// Services of other types are not selected, even with the same ``ServiceDomain/identifier``.
    public static func domains<Domain: ServiceDomain>(_ domains: Domain...) -> RequestFilter {
        let identifiers = Set(domains.map(\.identifier))
        return .route { identifiers.contains($0.domain) && $0.hasDomain(of: Domain.self) }
    }

    /// Selects requests to the origins of these services' environments, also those made without a route, such as the next page of
    /// a list.
    ///
    /// A service without an environment, or whose base URL is invalid, adds no origin.
    public static func origins<Domain: ServiceDomain>(of domains: Domain..., in config: NetworkConfig) -> RequestFilter {
        .origins(OriginScope(domains, in: config))
    }
}

extension OriginScope {
    /// The origins of these services' environments. A service without an environment, or whose base URL is invalid, adds no origin.
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
