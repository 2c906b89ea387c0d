/// A type that can represent a URL: a string, or another library's type.
public protocol URLRepresentation: Sendable {
    /// The URL as text. It is sent unchanged, except that characters that RFC 3986 forbids are percent-encoded.
    var urlString: String { get }
}

extension String: URLRepresentation {
    public var urlString: String { self }
}
