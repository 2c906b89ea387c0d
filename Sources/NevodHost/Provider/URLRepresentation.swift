/// A type that a URL can be given as: a string, or another library's type.
public protocol URLRepresentation: Sendable {
    /// The URL as text. It goes out as it is; only what RFC 3986 forbids is percent-encoded.
    var urlString: String { get }
}

extension String: URLRepresentation {
    public var urlString: String { self }
}
