public import NevodPluginABI

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

    /// The need for the digest of a response's body.
    var responseNeed: Needs {
        switch self {
        case .sha256: .responseSHA256
        case .sha384: .responseSHA384
        case .sha512: .responseSHA512
        }
    }
}

extension UnsafePointer<nevod_pair> {
    /// Returns the value of the pair with the algorithm's name among `count` pairs.
    @inlinable
    func digest(_ algorithm: DigestAlgorithm, among count: UInt32) -> nevod_bytes? {
        let name = algorithm.name
        search: for index in 0..<Int(count) {
            let (start, size) = (self[index].name.data, name.utf8CodeUnitCount)
            guard let start, Int(self[index].name.count) == size else { continue }
            for offset in 0..<size where start[offset] != name.utf8Start[offset] { continue search }
            return self[index].value
        }
        return nil
    }
}
