internal import NevodCrypto

/// An algorithm as libcrypto is told of it.
struct AlgorithmParts {
    let padding: AsymmetricKey.Padding
    /// Nil for EdDSA.
    let hash: HashMethod?
    /// The size of r and of s, if the signature is both one after the other.
    let rawSize: Int?
}

extension SignatureAlgorithm {
    /// - Returns: nil if the algorithm isn't one of that kind of key.
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
