/// The part of a key that verifies, set up once and used by many threads.
struct SignatureKey: Sendable {
    // Not an enum: Swift would mark in the pointers which of two payloads it is, and a search for leaks doesn't follow such pointers.
    private let publicKey: PublicKey?
    private let sharedKey: SharedKey?

    static func asymmetric(_ key: PublicKey) -> SignatureKey { SignatureKey(publicKey: key, sharedKey: nil) }
    static func shared(_ key: SharedKey) -> SignatureKey { SignatureKey(publicKey: nil, sharedKey: key) }

    /// The algorithms that the key is for, by its type and size.
    var algorithms: [JWTAlgorithm] { publicKey?.algorithms ?? sharedKey?.algorithms ?? [] }

    /// Whether a signature is that of a message.
    ///
    /// - Parameter algorithm: one of ``algorithms``.
    /// - Returns: false for any cause, also if libcrypto fails.
    func isSignature(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, _ algorithm: JWTAlgorithm
    ) -> Bool {
        publicKey?.isSignature(signature, of: message, algorithm) ?? sharedKey?.isSignature(signature, of: message, algorithm)
            ?? false
    }
}
