/// A request method as a type, so that one route serves under several names.
public protocol RouteMethod: Sendable {
    /// The method of every route that is named after the type.
    static var method: HTTPMethod { get }
}
