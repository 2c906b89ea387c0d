internal import NevodPluginKit
internal import NevodSupport

/// The encoding of a signature or a hash.
enum ByteEncoding: String, CaseIterable, SettingValue {
    case hex
    case upperCaseHex = "HEX"
    /// RFC 4648 §4, padded.
    case base64
    /// RFC 4648 §5, unpadded, as in JOSE (RFC 7515 §2).
    case base64url

    /// The largest length of the encoded text.
    func count(of bytes: Int) -> Int {
        switch self {
        case .hex, .upperCaseHex: bytes * 2
        case .base64, .base64url: (bytes + 2) / 3 * 4
        }
    }
}

extension ByteWriter {
    @_lifetime(self: copy self)
    mutating func append(_ bytes: Span<UInt8>, _ encoding: ByteEncoding) {
        switch encoding {
        case .hex: append(hex: bytes)
        case .upperCaseHex: append(upperCaseHex: bytes)
        case .base64: append(base64: bytes)
        case .base64url: append(base64URL: bytes)
        }
    }
}

/// The encoding of the secret that a vendor issues.
enum SecretEncoding: String, CaseIterable, SettingValue {
    case text, hex
    /// Either alphabet of RFC 4648, padded or not: vendors differ, and the forms are unambiguous.
    case base64

    func decode(_ secret: Secret) throws(SchemeError) -> Secret {
        let decoded =
            switch self {
            case .text: secret
            case .hex: Hexadecimal.secret(secret)
            case .base64: Base64.decoded(secret, .any)
            }
        guard let decoded else { throw .badSetting("secret", "is not valid \(rawValue), its secret-encoding") }
        guard !decoded.isEmpty else { throw .badSetting("secret", "must not be empty") }
        return decoded
    }
}
