/// A setting's flags, as the contract's bits (`nevod_setting.flags`).
public struct SettingFlags: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    /// No instance is created without a value. An empty text is a value.
    public static let required = SettingFlags(rawValue: 1 << 0)
    /// Never taken from a command line, never shown, wiped after use.
    public static let secret = SettingFlags(rawValue: 1 << 1)
    /// May be given several times; the values keep their order.
    public static let repeatable = SettingFlags(rawValue: 1 << 2)
    /// The URL names an issuer: ``IssuerURL``.
    public static let issuer = SettingFlags(rawValue: 1 << 3)
    /// The URL may be given relative to the scheme's first URL setting without this flag: ``RelativeURL``.
    public static let relative = SettingFlags(rawValue: 1 << 4)
}
