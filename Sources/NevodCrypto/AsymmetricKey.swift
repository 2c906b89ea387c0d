internal import COpenSSL
internal import NevodSupport

/// An RSA, elliptic-curve or Edwards-curve key: a public key, or a pair.
///
/// All threads share libcrypto's key. The setup of an operation (padding and hash) is kept and reused, which saves a tenth of an
/// RSA verification.
package final class AsymmetricKey: Sendable {
    package enum Kind: Sendable, Equatable {
        case rsa
        case elliptic(EllipticCurve)
        case edwards(EdwardsCurve)
    }

    /// The padding of an algorithm, which libcrypto must be told.
    package enum Padding: Sendable {
        case none, pkcs1, pss
    }

    package let kind: Kind
    // Not changed after init; libcrypto counts its references atomically.
    private nonisolated(unsafe) let key: OpaquePointer
    private let idle = Locked<[Context]>([])

    /// Owned by the call that took it from the pool, so two threads never use it at once.
    private struct Context: @unchecked Sendable {
        let signs: Bool
        let padding: Padding
        let digestSize: Int
        /// An EVP_PKEY_CTX with padding and hash set; nil for EdDSA.
        let operation: OpaquePointer?
        /// An EVP_MD_CTX.
        let digest: OpaquePointer

        func free() {
            EVP_PKEY_CTX_free(operation)
            EVP_MD_CTX_free(digest)
        }
    }

    /// - Parameter key: an EVP_PKEY. This object takes ownership, and frees it when this throws.
    package convenience init(_ key: OpaquePointer) throws(CryptoError) {
        let kind: Kind
        do throws(CryptoError) { kind = try Self.kind(key) } catch {
            EVP_PKEY_free(key)
            throw error
        }
        self.init(key, kind)
    }

    // This initialiser never throws: Embedded Swift doesn't free an object whose initialiser has thrown.
    private init(_ key: OpaquePointer, _ kind: Kind) {
        self.key = key
        self.kind = kind
    }

    deinit {
        for context in idle.withLock({ $0 }) { context.free() }
        EVP_PKEY_free(key)
    }

    /// Whether a signature of a message is valid. An ECDSA signature is in DER.
    ///
    /// - Parameter hash: nil for EdDSA, which includes its hash.
    /// - Returns: false for any failure, even one of libcrypto.
    package func isSignature(
        _ signature: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, _ padding: Padding, _ hash: HashMethod?
    ) -> Bool {
        // libcrypto's errors about an invalid signature are removed again: later calls on this thread must not find them.
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let context = take(signs: false, padding, hash) else { return false }
        defer { idle.withLock { $0.append(context) } }
        guard let hash else {
            return EVP_DigestVerifyInit(context.digest, nil, nil, nil, key) == 1
                && EVP_DigestVerify(context.digest, signature.bytes, signature.count, message.bytes, message.count) == 1
        }
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: HashMethod.largestDigest) { digest in
            Self.hash(message, context.digest, hash, digest)
                && EVP_PKEY_verify(context.operation, signature.bytes, signature.count, digest.baseAddress, hash.size) == 1
        }
    }

    /// The signature of a message. An ECDSA signature is in DER.
    package func signature(
        of message: UnsafeRawBufferPointer, _ padding: Padding, _ hash: HashMethod?
    ) throws(CryptoError) -> [UInt8] {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let context = take(signs: true, padding, hash) else { throw CryptoError(libcrypto: "can't set up a signature") }
        defer { idle.withLock { $0.append(context) } }
        var count = Int(EVP_PKEY_get_size(key))
        var signature = [UInt8](repeating: 0, count: max(count, 0))
        let isSigned: Bool
        if let hash {
            isSigned = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: HashMethod.largestDigest) { digest in
                Self.hash(message, context.digest, hash, digest)
                    && EVP_PKEY_sign(context.operation, &signature, &count, digest.baseAddress, hash.size) == 1
            }
        } else {
            isSigned =
                EVP_DigestSignInit(context.digest, nil, nil, nil, key) == 1
                && EVP_DigestSign(context.digest, &signature, &count, message.bytes, message.count) == 1
        }
        guard isSigned, count <= signature.count else { throw CryptoError(libcrypto: "signing failed") }
        signature.removeLast(signature.count - count)
        return signature
    }

    /// One of the key's numbers, by libcrypto's name for it, padded with leading zeros to a size; nil if the key has no such
    /// number.
    package func number(_ name: StaticString, size: Int = 0) -> [UInt8]? {
        guard let number = Self.bigNumber(name, of: key) else { return nil }
        defer { BN_free(number) }
        let count = max(Int(BN_num_bits(number) + 7) / 8, size)
        var bytes = [UInt8](repeating: 0, count: count)
        return BN_bn2binpad(number, &bytes, Int32(clamping: count)) == Int32(clamping: count) ? bytes : nil
    }

    /// - Returns: a BIGNUM that the caller frees; nil if the key has no such number.
    private static func bigNumber(_ name: StaticString, of key: OpaquePointer) -> OpaquePointer? {
        var number: OpaquePointer?
        return EVP_PKEY_get_bn_param(key, name.characters, &number) == 1 ? number : nil
    }

    /// The point of an Edwards curve's public key.
    package var edwardsPoint: [UInt8]? {
        var count = 64
        var bytes = [UInt8](repeating: 0, count: count)
        guard EVP_PKEY_get_raw_public_key(key, &bytes, &count) == 1, count <= bytes.count else { return nil }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    private static func hash(
        _ message: UnsafeRawBufferPointer, _ context: OpaquePointer, _ hash: HashMethod,
        _ digest: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        EVP_DigestInit_ex2(context, hash.pointer, nil) == 1
            && EVP_DigestUpdate(context, message.baseAddress, message.count) == 1
            && EVP_DigestFinal_ex(context, digest.baseAddress, nil) == 1
    }

    private func take(signs: Bool, _ padding: Padding, _ hash: HashMethod?) -> Context? {
        let size = hash?.size ?? 0
        let pooled = idle.withLock { idle -> Context? in
            let place = idle.lastIndex { $0.signs == signs && $0.padding == padding && $0.digestSize == size }
            guard let place else { return nil }
            idle.swapAt(place, idle.count - 1)
            return idle.popLast()
        }
        return pooled ?? makeContext(signs: signs, padding, hash)
    }

    private func makeContext(signs: Bool, _ padding: Padding, _ hash: HashMethod?) -> Context? {
        guard let digest = EVP_MD_CTX_new() else { return nil }
        guard let hash else {
            return Context(signs: signs, padding: padding, digestSize: 0, operation: nil, digest: digest)
        }
        let context = Context(
            signs: signs, padding: padding, digestSize: hash.size, operation: EVP_PKEY_CTX_new(key, nil), digest: digest)
        guard let operation = context.operation, let method = hash.pointer,
            (signs ? EVP_PKEY_sign_init(operation) : EVP_PKEY_verify_init(operation)) == 1,
            EVP_PKEY_CTX_set_signature_md(operation, method) == 1, Self.setPadding(operation, padding, method)
        else {
            context.free()
            return nil
        }
        return context
    }

    private static func setPadding(_ context: OpaquePointer, _ padding: Padding, _ method: OpaquePointer) -> Bool {
        switch padding {
        case .pkcs1: EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
        // MGF1 with the same hash, and a salt of the hash's length (RFC 7518 §3.5).
        case .pss:
            EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_rsa_mgf1_md(context, method) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
        case .none: true
        }
    }

    /// With an exponent of 1, every text would be its own signature; a long exponent only takes more time.
    private static func hasUsableExponent(_ key: OpaquePointer) -> Bool {
        guard let exponent = bigNumber("e", of: key) else { return false }
        defer { BN_free(exponent) }
        return BN_is_odd(exponent) == 1 && BN_is_one(exponent) == 0 && BN_num_bits(exponent) <= 256
    }

    private static func isA(_ key: OpaquePointer, _ name: StaticString) -> Bool {
        EVP_PKEY_is_a(key, name.characters) == 1
    }

    private static func kind(_ key: OpaquePointer) throws(CryptoError) -> Kind {
        if isA(key, "RSA") {
            let bits = EVP_PKEY_get_bits(key)
            guard bits >= 2048 else {
                throw CryptoError("an RSA key of \(bits) bits is too short: it needs 2048 (RFC 7518 §3.3)")
            }
            // libcrypto doesn't verify with longer keys.
            guard bits <= 16384 else { throw CryptoError("an RSA key of \(bits) bits is too long: the limit is 16384") }
            guard hasUsableExponent(key) else {
                throw CryptoError("the RSA key's exponent (e) is even, 1, or longer than 256 bits (FIPS 186-4 §B.3.1)")
            }
            return .rsa
        }
        for curve in EdwardsCurve.allCases where isA(key, curve.name) { return .edwards(curve) }
        if isA(key, "EC") {
            for curve in EllipticCurve.allCases where curve.isOf(key) { return .elliptic(curve) }
        }
        throw CryptoError("the key's kind is not supported; use RSA, P-256, P-384, P-521, Ed25519 or Ed448")
    }
}
