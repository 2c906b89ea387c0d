/// A service that routes go to, by name; a ``NetworkConfig`` says where it is.
///
/// ```swift
/// enum Service: ServiceDomain {
///     case api, cdn
///     var identifier: String { self == .api ? "api" : "cdn" }
/// }
/// ```
public protocol ServiceDomain: Hashable, Sendable {
    /// Tells it apart from the others of its type.
    var identifier: String { get }
}
