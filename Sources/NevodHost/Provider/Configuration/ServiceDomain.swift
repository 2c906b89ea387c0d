/// Names a service that routes are sent to. A ``NetworkConfig`` maps it to an environment.
///
/// ```swift
/// enum Service: ServiceDomain {
///     case api, cdn
///     var identifier: String { self == .api ? "api" : "cdn" }
/// }
/// ```
public protocol ServiceDomain: Hashable, Sendable {
    /// Identifies the service among the others of its type.
    var identifier: String { get }
}
