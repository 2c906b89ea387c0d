internal import NevodCrypto
internal import NevodSupport

/// A public key of RSA, of an elliptic curve or of an Edwards curve.
struct PublicKey: Sendable {
    let algorithms: [JWTAlgorithm]
    private let key: AsymmetricKey

    /// - Parameters:
    ///   - key: an EVP_PKEY, which this takes over. It is freed if this throws.
    ///   - allowed: the algorithms that the key's owner allows.
    init(_ key: OpaquePointer, allowed: [JWTAlgorithm]) throws(JWTError) {
        do throws(CryptoError) { self.key = try AsymmetricKey(key) } catch { throw JWTError(error) }
        let fitting = self.key.kind.algorithms
        algorithms = fitting.filter { allowed.contains($0) }
        guard !algorithms.isEmpty else {
            throw JWTError(
                .key, "the key is for \(JWTAlgorithm.list(fitting)), and is to be used with \(JWTAlgorithm.list(allowed))")
        }
    }

    func isSignature(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, _ algorithm: JWTAlgorithm
    ) -> Bool {
        guard case .elliptic(let curve) = key.kind else {
            return key.isSignature(signature, of: message, algorithm.padding, algorithm.hash)
        }
        return ECDSASignature.withDER(signature, coordinateSize: curve.coordinateSize) {
            key.isSignature($0, of: message, .none, algorithm.hash)
        } ?? false
    }
}

extension AsymmetricKey.Kind {
    /// The algorithms of a key by its type.
    fileprivate var algorithms: [JWTAlgorithm] {
        switch self {
        case .rsa: [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case .elliptic(.p256): [.es256]
        case .elliptic(.p384): [.es384]
        case .elliptic(.p521): [.es512]
        case .edwards: [.edDSA]
        }
    }
}

extension JWTAlgorithm {
    fileprivate var padding: AsymmetricKey.Padding {
        switch family {
        case .rsa: .pkcs1
        case .rsaPSS: .pss
        case .hmac, .ecdsa, .edwards: .none
        }
    }
}

extension JWTError {
    /// A key that libcrypto, or what this library checks of it, refuses.
    init(_ error: CryptoError) {
        self.init(.key, error.message)
    }
}
