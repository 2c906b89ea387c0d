/// A setting that is an http or https URL and that a user may give relative to the scheme's first ``ServerURL`` or ``IssuerURL``:
/// with the base `https://example.com/wiki`, `login` is `https://example.com/wiki/login`, and `/login` is `https://example.com/login`.
/// The host resolves it (RFC 3986 §5.2). A flow may send to its origin, as to a ``ServerURL``'s.
public struct RelativeURL: SettingValue, Hashable {
    public static let kind = SettingKind.url
    public static let flags: SettingFlags = [.required, .relative]
    public static let absent = RelativeURL(text: "")

    /// The absolute URL; in a default also a relative one.
    public let text: String

    /// The URL's origin, without a trailing slash: `https://api.example.com`.
    public var origin: String { ServerURL(text: text).origin }

    /// Creates a value for tests and defaults.
    ///
    /// - Parameter text: an absolute URL, or for a default a relative one; not checked here.
    public init(text: String) {
        self.text = text
    }

    public init?(texts values: [UnsafeRawBufferPointer]) {
        guard let text = String(texts: values) else { return nil }
        self.init(text: text)
    }
}
