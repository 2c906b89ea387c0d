/// A setting that is an absolute http or https URL, which the host has validated. A flow may send to its origin.
public struct ServerURL: SettingValue, Hashable {
    public static let kind = SettingKind.url
    public static let absent = ServerURL(text: "")

    /// As the user wrote it.
    public let text: String

    /// `https://api.example.com`, without a slash: what a path is put behind.
    public var origin: String {
        var rest = text.utf8.drop { $0 != UInt8(ascii: ":") }
        rest = rest.drop { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }
        let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        return String(text[..<(end ?? text.endIndex)])
    }

    /// - Parameter text: an absolute URL; not checked here.
    public init(text: String) {
        self.text = text
    }

    public init?(_ values: [UnsafeRawBufferPointer]) {
        guard let text = String(values) else { return nil }
        self.init(text: text)
    }
}

/// A setting that names an issuer (RFC 8414 §2). A flow may send to its origin, and, after it has fetched the issuer's
/// metadata, to the endpoints that these name.
public struct IssuerURL: SettingValue, Hashable {
    public static let kind = SettingKind.url
    public static let flags: SettingFlags = [.required, .issuer]
    public static let absent = IssuerURL(text: "")

    /// As the user wrote it.
    public let text: String

    /// - Parameter text: an absolute URL; not checked here.
    public init(text: String) {
        self.text = text
    }

    public init?(_ values: [UnsafeRawBufferPointer]) {
        guard let text = String(values) else { return nil }
        self.init(text: text)
    }
}
