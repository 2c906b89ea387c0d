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
