internal import NevodCrypto

/// An algorithm that signs a JSON Web Token: the header parameter `alg` (RFC 7518 §3.1, RFC 8037 §3.1).
///
/// `none` isn't included, so that a token without a signature can't be accepted by mistake.
public enum JWTAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// HMAC with SHA-256, and a secret of at least 32 bytes.
    case hs256 = "HS256"
    /// HMAC with SHA-384, and a secret of at least 48 bytes.
    case hs384 = "HS384"
    /// HMAC with SHA-512, and a secret of at least 64 bytes.
    case hs512 = "HS512"
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// RSASSA-PKCS1-v1_5 with SHA-384.
    case rs384 = "RS384"
    /// RSASSA-PKCS1-v1_5 with SHA-512.
    case rs512 = "RS512"
    /// RSASSA-PSS with SHA-256, and MGF1 with the same hash.
    case ps256 = "PS256"
    /// RSASSA-PSS with SHA-384, and MGF1 with the same hash.
    case ps384 = "PS384"
    /// RSASSA-PSS with SHA-512, and MGF1 with the same hash.
    case ps512 = "PS512"
    /// ECDSA over P-256 with SHA-256.
    case es256 = "ES256"
    /// ECDSA over P-384 with SHA-384.
    case es384 = "ES384"
    /// ECDSA over P-521 with SHA-512.
    case es512 = "ES512"
    /// Ed25519 or Ed448, as the key says.
    case edDSA = "EdDSA"
}

extension JWTAlgorithm {
    /// The operation of an algorithm, apart from its hash.
    enum Family: Sendable {
        case hmac, rsa, rsaPSS, ecdsa, edwards
    }

    /// The names of algorithms, for a message.
    static func list(_ algorithms: [JWTAlgorithm]) -> String {
        algorithms.map { $0.rawValue }.joined(separator: ", ")
    }

    var family: Family {
        switch self {
        case .hs256, .hs384, .hs512: .hmac
        case .rs256, .rs384, .rs512: .rsa
        case .ps256, .ps384, .ps512: .rsaPSS
        case .es256, .es384, .es512: .ecdsa
        case .edDSA: .edwards
        }
    }

    /// Nil for EdDSA, which includes its hash.
    var hash: HashMethod? {
        switch self {
        case .hs256, .rs256, .ps256, .es256: .sha256
        case .hs384, .rs384, .ps384, .es384: .sha384
        case .hs512, .rs512, .ps512, .es512: .sha512
        case .edDSA: nil
        }
    }
}
