/// Selects requests by their service or route, so that code repeats no host names, or by any other property.
///
/// ```swift
/// AuthenticationInterceptor(
///     tokenStorage: storage, refreshStrategy: refresh, shouldAuthenticate: .domains(Service.api))
/// config.setRetryPolicy(.none, for: .routes(PaymentRoute.self))
/// ```
public struct RequestFilter: Sendable {
    private let isSelected: @Sendable (HTTPRequest) -> Bool

    /// - Parameter isSelected: returns whether a request is selected. Its ``HTTPRequest/route`` is nil if it was made without one.
    public init(_ isSelected: @escaping @Sendable (HTTPRequest) -> Bool) {
        self.isSelected = isSelected
    }

    /// Returns whether the filter selects a request.
    public func matches(_ request: HTTPRequest) -> Bool { isSelected(request) }

    /// Selects every request.
    public static let all = RequestFilter { _ in true }

    /// Selects requests made from a route whose description satisfies the closure. Never selects a request without a route.
    public static func route(where isSelected: @escaping @Sendable (RouteDescription) -> Bool) -> RequestFilter {
        RequestFilter { $0.route.map(isSelected) ?? false }
    }

    /// Selects requests to any of the origins (RFC 6454 §4), with or without a route.
    public static func origins(_ origins: Set<Origin>) -> RequestFilter {
        RequestFilter { origins.contains($0.origin) }
    }

    /// Selects requests to the origins of a scope.
    public static func origins(_ scope: OriginScope) -> RequestFilter {
        RequestFilter { scope.contains($0.origin) }
    }

    /// Selects what this filter or the other one selects.
    public func or(_ other: RequestFilter) -> RequestFilter {
        RequestFilter { matches($0) || other.matches($0) }
    }

    /// Selects what this filter selects and the other one doesn't.
    public func except(_ other: RequestFilter) -> RequestFilter {
        RequestFilter { matches($0) && !other.matches($0) }
    }
}
