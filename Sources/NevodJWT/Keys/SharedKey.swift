internal import COpenSSL
internal import NevodCrypto
internal import NevodSupport

/// A shared secret, for HMAC.
///
/// A context of libcrypto holds the key for each algorithm, and is duplicated for each thread that uses it at once.
struct SharedKey: Sendable {
    let algorithms: [JWTAlgorithm]
    private let keyed: [(algorithm: JWTAlgorithm, contexts: HMACContexts)]

    /// - Parameter allowed: the algorithms that the key's owner allows.
    init(_ secret: Secret, allowed: [JWTAlgorithm]) throws(JWTError) {
        var keyed: [(algorithm: JWTAlgorithm, contexts: HMACContexts)] = []
        for algorithm in allowed where algorithm.family == .hmac {
            // A shorter key than the hash would be the weakest part (RFC 7518 §3.2).
            guard let hash = algorithm.hash, secret.count >= hash.size else { continue }
            guard let contexts = try? HMACContexts(secret, hash) else { continue }
            keyed.append((algorithm, contexts))
        }
        self.keyed = keyed
        algorithms = keyed.map { $0.algorithm }
        guard let least = allowed.compactMap({ $0.family == .hmac ? $0.hash?.size : nil }).min() else {
            throw JWTError(.key, "a shared secret can't be used with \(JWTAlgorithm.list(allowed))")
        }
        guard secret.count >= least else {
            throw JWTError(.key, "a shared secret of \(secret.count) bytes is too short: it needs \(least) (RFC 7518 §3.2)")
        }
        guard !keyed.isEmpty else { throw JWTError(.key, "libcrypto can't set up HMAC") }
    }

    func isSignature(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, _ algorithm: JWTAlgorithm
    ) -> Bool {
        guard let size = algorithm.hash?.size, signature.count == size,
            let contexts = keyed.first(where: { $0.algorithm == algorithm })?.contexts, let context = contexts.take()
        else { return false }
        defer { contexts.putBack(context) }
        return withUnsafeTemporaryAllocation(byteCount: HashMethod.largestDigest, alignment: 1) { code in
            var count = 0
            defer { code.wipe() }
            guard EVP_MAC_update(context.pointer, message.bytes, message.count) == 1,
                EVP_MAC_final(context.pointer, code.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, code.count) == 1,
                count == size
            else { return false }
            return CRYPTO_memcmp(code.baseAddress, signature.baseAddress, size) == 0
        }
    }
}
