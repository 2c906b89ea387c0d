internal import NevodPluginKit
internal import NevodSupport

/// The encoding of the secret that a vendor issues.
enum SecretEncoding: String, CaseIterable, SettingValue {
    case text, hex
    /// Either alphabet of RFC 4648, padded or not, because vendors differ and the forms are unambiguous.
    case base64

    func decode(_ secret: Secret) throws(SchemeError) -> Secret {
        if self != .text, let prefix = Self.prefix(of: secret) {
            throw .badSetting("secret", "begins with \(prefix), which is not part of the \(rawValue); remove it")
        }
        let decoded =
            switch self {
            case .text: secret
            case .hex: Hexadecimal.secret(secret)
            case .base64: Base64.decoded(secret, .exact)
            }
        guard let decoded else { throw .badSetting("secret", "is not valid \(rawValue), its secret-encoding") }
        guard !decoded.isEmpty else { throw .badSetting("secret", "must not be empty") }
        return decoded
    }

    /// The prefixes that vendors give their keys. They are made of base64url digits, so decoding them would silently give a
    /// different key.
    private static let prefixes = [
        "whsec_", "whsk_", "whpk_", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "shpss_", "ghs_", "xoxb-",
    ]

    private static func prefix(of secret: Secret) -> String? {
        secret.withUnsafeBytes { secret in prefixes.first { secret.starts(with: $0.utf8) } }
    }
}
