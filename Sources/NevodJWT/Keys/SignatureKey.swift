internal import COpenSSL
internal import NevodCrypto
internal import NevodSupport

/// The part of a key that verifies, set up once and used by many threads.
struct SignatureKey: Sendable {
    // Not an enum: Swift would store the case in spare bits of the pointers, and leak detectors don't follow such pointers.
    private let publicKey: PublicKey?
    private let sharedKey: SharedKey?

    static func asymmetric(_ key: PublicKey) -> SignatureKey { SignatureKey(publicKey: key, sharedKey: nil) }
    static func shared(_ key: SharedKey) -> SignatureKey { SignatureKey(publicKey: nil, sharedKey: key) }

    /// The algorithms that the key is for, by its type and size.
    var algorithms: [JWTAlgorithm] { publicKey?.algorithms ?? sharedKey?.algorithms ?? [] }

    /// Whether a signature of a message is valid.
    ///
    /// - Parameter algorithm: one of ``algorithms``.
    /// - Returns: false for any failure, even one of libcrypto.
    func isSignature(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, _ algorithm: JWTAlgorithm
    ) -> Bool {
        publicKey?.isSignature(signature, of: message, algorithm) ?? sharedKey?.isSignature(signature, of: message, algorithm)
            ?? false
    }
}

/// A public key of RSA, of an elliptic curve or of an Edwards curve.
struct PublicKey: Sendable {
    let algorithms: [JWTAlgorithm]
    private let key: AsymmetricKey

    /// - Parameters:
    ///   - key: an EVP_PKEY. This takes ownership, and frees it when it throws.
    ///   - allowed: the algorithms that the key's owner allows.
    init(_ key: OpaquePointer, allowed: [JWTAlgorithm]) throws(JWTError) {
        do throws(CryptoError) { self.key = try AsymmetricKey(key) } catch { throw JWTError(error) }
        let fitting = self.key.kind.algorithms
        algorithms = fitting.filter { allowed.contains($0) }
        guard !algorithms.isEmpty else {
            throw JWTError(
                .key, "the key is for \(JWTAlgorithm.list(fitting)), and can't be used with \(JWTAlgorithm.list(allowed))")
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
    /// A key that libcrypto, or a check of this library, refuses.
    init(_ error: CryptoError) {
        self.init(.key, error.message)
    }
}

/// A shared secret, for HMAC.
///
/// For each algorithm, a context of libcrypto holds the key. It is duplicated for each thread that uses it concurrently.
struct SharedKey: Sendable {
    let algorithms: [JWTAlgorithm]
    private let keyed: [(algorithm: JWTAlgorithm, contexts: HMACContexts)]

    /// - Parameter allowed: the algorithms that the key's owner allows.
    init(_ secret: Secret, allowed: [JWTAlgorithm]) throws(JWTError) {
        var keyed: [(algorithm: JWTAlgorithm, contexts: HMACContexts)] = []
        for algorithm in allowed where algorithm.family == .hmac {
            // A key shorter than the hash would be the weakest part (RFC 7518 §3.2).
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
