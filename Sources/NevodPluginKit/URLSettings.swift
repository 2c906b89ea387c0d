/// A setting that is an absolute http or https URL, validated by the host. A flow may send to its origin. Once the flow has fetched
/// the URL's metadata as a protected resource (RFC 9728), it may also send to the issuers that the metadata names, as to an
/// ``IssuerURL``.
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

/// A setting that names an issuer (RFC 8414 §2). A flow may send to the issuer's origin and, once it has fetched the issuer's
/// metadata, to the endpoints in it.
public struct IssuerURL: SettingValue, Hashable {
    public static let kind = SettingKind.url
    public static let flags: SettingFlags = [.required, .issuer]
    public static let absent = IssuerURL(text: "")

    /// As the user wrote it.
    public let text: String

    /// The value for a default.
    public init(text: String) {
        self.text = text
    }

    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let text = String(texts: values) else { return nil }
        self.init(text: text)
    }
}

/// A setting that is an http or https URL. A user may give it relative to the scheme's first ``ServerURL`` or ``IssuerURL``: with
/// the base `https://example.com/wiki`, `login` is `https://example.com/wiki/login`, and `/login` is `https://example.com/login`.
/// The host resolves it (RFC 3986 §5.2). A flow may send to its origin, as with a ``ServerURL``.
public struct RelativeURL: SettingValue, Hashable {
    public static let kind = SettingKind.url
    public static let flags: SettingFlags = [.required, .relative]
    public static let absent = RelativeURL(text: "")

    /// The absolute URL. A default may be relative.
    public let text: String

    /// The URL's origin, without a trailing slash: `https://api.example.com`.
    public var origin: String { ServerURL(text: text).origin }

    /// Creates a value for tests and defaults.
    ///
    /// - Parameter text: an absolute URL; may be relative for a default. Not checked here.
    public init(text: String) {
        self.text = text
    }

    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let text = String(texts: values) else { return nil }
        self.init(text: text)
    }
}
