/// Where a service is.
public protocol NetworkEnvironmentProviding: Sendable {
    /// `String`, or Foundation's `URL`.
    associatedtype BaseURL: URLRepresentation = String

    /// Absolute, `http` or `https`. Its path comes before every endpoint's, its query before every query.
    var baseURL: BaseURL { get }
}

/// A type that a URL can be given as: a string, or another library's type.
public protocol URLRepresentation: Sendable {
    var urlString: String { get }
}

extension String: URLRepresentation {
    public var urlString: String { self }
}

/// An environment that is no more than its address.
public struct SimpleEnvironment: NetworkEnvironmentProviding {
    public let baseURL: String

    public init(baseURL: some URLRepresentation) {
        self.baseURL = baseURL.urlString
    }
}
