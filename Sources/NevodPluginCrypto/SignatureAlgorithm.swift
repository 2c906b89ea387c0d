internal import NevodCrypto
public import NevodPluginKit

/// An algorithm of signatures with a key pair.
public enum SignatureAlgorithm: Sendable, Equatable {
    /// RSASSA-PKCS1-v1_5 (RFC 8017 §8.2): `RS256` and so on in JOSE, `rsa-v1_5-sha256` in HTTP signatures.
    case rsaPKCS1(HashFunction)
    /// RSASSA-PSS (RFC 8017 §8.1), with MGF1 of the same hash, and a salt of the hash's length: `PS256`, `rsa-pss-sha512`.
    case rsaPSS(HashFunction)
    /// ECDSA on the key's curve. The signature is r and s, each as long as the curve's size (RFC 7518 §3.4): `ES256`.
    case ecdsa(HashFunction)
    /// ECDSA on the key's curve. The signature is a DER sequence of r and s (RFC 3279 §2.2.3), as in OpenSSL and X.509.
    case ecdsaDER(HashFunction)
    /// Ed25519 (RFC 8032), or Ed448 if the key is on that curve: `EdDSA`.
    case edDSA
}

/// An algorithm in libcrypto's terms.
struct AlgorithmParts {
    let padding: AsymmetricKey.Padding
    /// Nil for EdDSA.
    let hash: HashMethod?
    /// The size of r and of s, if the signature is r followed by s.
    let rawSize: Int?
}

extension SignatureAlgorithm {
    /// - Returns: nil if the algorithm isn't for that kind of key.
    func parts(for kind: AsymmetricKey.Kind) -> AlgorithmParts? {
        switch (self, kind) {
        case (.rsaPKCS1(let hash), .rsa): AlgorithmParts(padding: .pkcs1, hash: hash.method, rawSize: nil)
        case (.rsaPSS(let hash), .rsa): AlgorithmParts(padding: .pss, hash: hash.method, rawSize: nil)
        case (.ecdsa(let hash), .elliptic(let curve)):
            AlgorithmParts(padding: .none, hash: hash.method, rawSize: curve.coordinateSize)
        case (.ecdsaDER(let hash), .elliptic): AlgorithmParts(padding: .none, hash: hash.method, rawSize: nil)
        case (.edDSA, .edwards): AlgorithmParts(padding: .none, hash: nil, rawSize: nil)
        default: nil
        }
    }
}

extension AsymmetricKey.Kind {
    /// The kind of key, for errors.
    var name: String {
        switch self {
        case .rsa: "an RSA key"
        case .elliptic(let curve): "a key on \(curve.rawValue)"
        case .edwards(let curve): "a key of \(curve.rawValue)"
        }
    }
}

/// The curve of a key, by its name in a JWK (RFC 7518 §6.2.1.1, RFC 8037 §2). As the type of a setting, a choice.
public enum KeyCurve: String, CaseIterable, SettingValue {
    /// For ECDSA. Other names are secp256r1 and prime256v1.
    case p256 = "P-256"
    /// For ECDSA. Another name is secp384r1.
    case p384 = "P-384"
    /// For ECDSA. Another name is secp521r1.
    case p521 = "P-521"
    /// For EdDSA (RFC 8032).
    case ed25519 = "Ed25519"

    /// The size of a private key, and of each coordinate of a public key, in bytes.
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
