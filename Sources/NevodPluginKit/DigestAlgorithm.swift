/// A digest algorithm by its name in the registry of RFC 9530. (SHA-384 isn't registered; its name follows the same pattern.)
public enum DigestAlgorithm: CaseIterable, Sendable {
    /// FIPS 180-4: 32, 48 and 64 bytes.
    case sha256, sha384, sha512

    @usableFromInline var name: StaticString {
        switch self {
        case .sha256: "sha-256"
        case .sha384: "sha-384"
        case .sha512: "sha-512"
        }
    }

    var need: Needs {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}
