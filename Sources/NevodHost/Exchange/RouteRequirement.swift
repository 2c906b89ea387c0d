/// Decides which interceptors run for a route that needs a credential, and fails a request that lacks it.
extension InterceptorChain {
    /// Whether an interceptor may run for a route: it writes no credential, or one that the route allows.
    static func mayRun(_ interceptor: any RequestInterceptor, for route: RouteDescription?) -> Bool {
        guard let route, route.auth != .automatic else { return true }
        let provided = interceptor.provides
        return provided.isEmpty || provided.contains(route.auth)
    }
}

extension Exchange {
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

/// A route needs a credential that no interceptor of the provider has put on its request. Nothing was sent.
public struct UnmetRequirementError: Error, Sendable {
    /// The route.
    public let route: RouteDescription
    /// The requirement that is not met.
    public var requirement: AuthRequirement { route.auth }

    init(_ route: RouteDescription) {
        self.route = route
    }
}

extension UnmetRequirementError: CustomStringConvertible {
    public var description: String {
        "no interceptor provides the credential \"\(requirement)\" for the route \(route); add an interceptor with "
            + "provides: [AuthRequirement(\"\(requirement)\")] whose predicate selects this request, or change the route's auth"
    }
}
