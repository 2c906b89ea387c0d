extension Exchange {
    /// The route that the request was made from; nil for a request made without one.
    public var route: RouteDescription? { request.route }

    /// Whether the route allows a credential that meets the requirements.
    func allows(_ provided: Set<AuthRequirement>) -> Bool {
        guard let requirement = request.route?.auth, requirement != .automatic else { return true }
        return provided.contains(requirement)
    }

    /// - Throws: ``UnmetRequirementError`` if the route needs a credential that no interceptor has provided.
    func checkRequirement() throws(UnmetRequirementError) {
        guard let route = request.route, !hasCredential, mayCarryCredentials else { return }
        if route.auth != .automatic, route.auth != .none { throw UnmetRequirementError(route) }
    }
}

/// An interceptor that records in the exchange when it has provided a credential. (For any other one, the chain does that.)
protocol CredentialInterceptor: RequestInterceptor {}
