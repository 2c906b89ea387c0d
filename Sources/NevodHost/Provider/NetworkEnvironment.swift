/// Where a service is.
public protocol NetworkEnvironmentProviding: Sendable {
    /// `String`, or Foundation's `URL`.
    associatedtype BaseURL: URLRepresentation = String

    /// Absolute, `http` or `https`. Its path comes before every endpoint's, its query before every query.
    var baseURL: BaseURL { get }
}

/// A type that a URL can be given as: a string, or another library's type.
public protocol URLRepresentation: Sendable {
    /// The URL as text. It goes out as it is; only what RFC 3986 forbids is percent-encoded.
    var urlString: String { get }
}

extension String: URLRepresentation {
    public var urlString: String { self }
}

/// An environment that is no more than its address.
public struct SimpleEnvironment: NetworkEnvironmentProviding {
    public let baseURL: String

    /// - Parameter baseURL: absolute, `http` or `https`; checked when the first request is made.
    public init(baseURL: some URLRepresentation) {
        self.baseURL = baseURL.urlString
    }
}
