/// A setting that names an issuer (RFC 8414 §2). A flow may send to the issuer's origin and, once it has fetched the issuer's
/// metadata, to the endpoints in them.
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
