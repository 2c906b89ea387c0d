/// A request method as a type, so that one generic route can have a name for each method.
public protocol RouteMethod: Sendable {
    /// The method.
    static var method: HTTPMethod { get }
}
