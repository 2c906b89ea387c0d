internal import NevodCrypto

/// The part of a key that verifies, set up once and used by many threads.
enum SignatureKey: Sendable {
    case asymmetric(PublicKey)
    case shared(SharedKey)

    /// The algorithms that the key is for, by its type and size.
    var algorithms: [JWTAlgorithm] {
        switch self {
        case .asymmetric(let key): key.algorithms
        case .shared(let key): key.algorithms
        }
    }

    /// Whether a signature is that of a message.
    ///
    /// - Parameter algorithm: one of ``algorithms``.
    /// - Returns: false for any cause, also if libcrypto fails.
    func isSignature(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, _ algorithm: JWTAlgorithm
    ) -> Bool {
        switch self {
        case .asymmetric(let key): key.isSignature(signature, of: message, algorithm)
        case .shared(let key): key.isSignature(signature, of: message, algorithm)
        }
    }
}
