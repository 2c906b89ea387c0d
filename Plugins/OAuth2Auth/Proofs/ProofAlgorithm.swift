internal import NevodPluginCrypto
internal import NevodPluginKit

/// The algorithm of proofs, by its name in JOSE (RFC 7518 §3.1, RFC 8037 §3.1); the preferred one first.
enum ProofAlgorithm: String, CaseIterable, SettingValue {
    case es256 = "ES256"
    case edDSA = "EdDSA"
    case es384 = "ES384"

    var curve: KeyCurve {
        switch self {
        case .es256: .p256
        case .edDSA: .ed25519
        case .es384: .p384
        }
    }

    var signature: SignatureAlgorithm {
        switch self {
        case .es256: .ecdsa(.sha256)
        case .edDSA: .edDSA
        case .es384: .ecdsa(.sha384)
        }
    }
}
