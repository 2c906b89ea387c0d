internal import NevodPluginCrypto
internal import NevodPluginKit

/// The algorithm of an assertion's signature, by its name in JOSE (RFC 7518 §3.1, RFC 8037 §3.1).
enum AssertionAlgorithm: String, CaseIterable, SettingValue {
    case rs256 = "RS256"
    case rs384 = "RS384"
    case rs512 = "RS512"
    case ps256 = "PS256"
    case ps384 = "PS384"
    case ps512 = "PS512"
    case es256 = "ES256"
    case es384 = "ES384"
    case es512 = "ES512"
    case edDSA = "EdDSA"
    case hs256 = "HS256"
    case hs384 = "HS384"
    case hs512 = "HS512"

    /// Those of a key pair, of which the first is the default.
    ///
    /// - Parameter jwk: the public key.
    static func all(for jwk: JSONValue) -> [AssertionAlgorithm] {
        switch (jwk["kty"]?.string ?? "", jwk["crv"]?.string ?? "") {
        // RS256 is what every server has (RFC 7523 §5); one that wants PS256 alone says so in its metadata.
        case ("RSA", _): [.rs256, .ps256, .rs384, .rs512, .ps384, .ps512]
        case ("EC", "P-256"): [.es256]
        case ("EC", "P-384"): [.es384]
        case ("EC", "P-521"): [.es512]
        case ("OKP", _): [.edDSA]
        default: []
        }
    }

    /// Those of a shared secret, which is as long as the hash at least (RFC 7518 §3.2).
    static func all(forSecretOf count: Int) -> [AssertionAlgorithm] {
        [.hs256, .hs384, .hs512].filter { $0.hash.size <= count }
    }

    var hash: HashFunction {
        switch self {
        case .rs256, .ps256, .es256, .hs256, .edDSA: .sha256
        case .rs384, .ps384, .es384, .hs384: .sha384
        case .rs512, .ps512, .es512, .hs512: .sha512
        }
    }

    /// The signature of a key pair; nil for the algorithms of a shared secret.
    var signature: SignatureAlgorithm? {
        switch self {
        case .rs256, .rs384, .rs512: .rsaPKCS1(hash)
        case .ps256, .ps384, .ps512: .rsaPSS(hash)
        case .es256, .es384, .es512: .ecdsa(hash)
        case .edDSA: .edDSA
        case .hs256, .hs384, .hs512: nil
        }
    }
}
