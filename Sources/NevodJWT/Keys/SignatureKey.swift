/// The part of a key that verifies, set up once and used by many threads.
protocol SignatureKey: AnyObject, Sendable {
    /// The algorithms that the key is for, by its type and size.
    var algorithms: [JWTAlgorithm] { get }

    /// Whether a signature is that of a message.
    ///
    /// - Parameter algorithm: one of ``algorithms``.
    /// - Returns: false for any cause, also if libcrypto fails.
    func isSignature(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, _ algorithm: JWTAlgorithm
    ) -> Bool
}
