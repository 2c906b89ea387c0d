/// A setting that is an absolute http or https URL, validated by the host. A flow may send to its origin and, once it has fetched the
/// metadata of the URL as a protected resource (RFC 9728), to the issuers that they name, as if these were an ``IssuerURL``.
public struct ServerURL: SettingValue, Hashable {
    public static let kind = SettingKind.url
    public static let absent = ServerURL(text: "")

    /// As the user wrote it.
    public let text: String

    /// The URL's origin, without a trailing slash: `https://api.example.com`.
    public var origin: String {
        var rest = text.utf8.drop { $0 != UInt8(ascii: ":") }
        rest = rest.drop { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return String(text[..<(end ?? text.endIndex)])
    }

    /// Creates a value for tests and defaults.
    ///
    /// - Parameter text: an absolute URL; not checked here.
    public init(text: String) {
        self.text = text
    }

    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let text = String(texts: values) else { return nil }
        self.init(text: text)
    }
}
