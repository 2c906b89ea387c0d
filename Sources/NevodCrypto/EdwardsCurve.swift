internal import COpenSSL

/// The curves of EdDSA, by their names in a JWK (RFC 8037 §2).
package enum EdwardsCurve: String, CaseIterable, Sendable {
    case ed25519 = "Ed25519"
    case ed448 = "Ed448"

    var name: StaticString {
        switch self {
        case .ed25519: "ED25519"
        case .ed448: "ED448"
        }
    }

    /// The size of a public key, and of a private one, in bytes.
    package var size: Int {
        switch self {
        case .ed25519: 32
        case .ed448: 57
        }
    }
}
