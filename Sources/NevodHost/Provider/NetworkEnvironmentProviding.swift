/// Where a service is.
public protocol NetworkEnvironmentProviding: Sendable {
    /// `String`, or Foundation's `URL`.
    associatedtype BaseURL: URLRepresentation = String

    /// Absolute, `http` or `https`. Its path comes before every endpoint's, its query before every query.
    var baseURL: BaseURL { get }
}
