internal import NevodCrypto
public import NevodPluginKit

/// The curve of a key, by its name in a JWK (RFC 7518 §6.2.1.1, RFC 8037 §2). As the type of a setting, a choice.
public enum KeyCurve: String, CaseIterable, SettingValue {
    /// For ECDSA; also called secp256r1 and prime256v1.
    case p256 = "P-256"
    /// For ECDSA; also called secp384r1.
    case p384 = "P-384"
    /// For ECDSA; also called secp521r1.
    case p521 = "P-521"
    /// For EdDSA (RFC 8032).
    case ed25519 = "Ed25519"

    /// The size of a private key, and of a coordinate of a public one, in bytes.
    public var size: Int { elliptic?.coordinateSize ?? EdwardsCurve.ed25519.size }

    var elliptic: EllipticCurve? {
        switch self {
        case .p256: .p256
        case .p384: .p384
        case .p521: .p521
        case .ed25519: nil
        }
    }
}
