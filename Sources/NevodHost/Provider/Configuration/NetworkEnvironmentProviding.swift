/// The environment of a service.
public protocol NetworkEnvironmentProviding: Sendable {
    /// The type of the base URL: `String`, or Foundation's `URL`.
    associatedtype BaseURL: URLRepresentation = String

    /// The service's absolute `http` or `https` URL. Its path precedes every endpoint's path, its query every query.
    var baseURL: BaseURL { get }
}
