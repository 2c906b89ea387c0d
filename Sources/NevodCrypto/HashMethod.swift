internal import COpenSSL
package import NevodSupport

/// A hash function of libcrypto, looked up once.
package struct HashMethod: Sendable {
    package static let largestDigest = 64

    package let size: Int
    package let name: StaticString
    /// Nil if libcrypto doesn't have the function. Never freed, and never changed.
    private nonisolated(unsafe) let method: OpaquePointer?

    private init(_ name: StaticString, size: Int) {
        self.name = name
        self.size = size
        method = EVP_MD_fetch(nil, name.characters, nil)
    }

    package static let md5 = HashMethod("MD5", size: 16)
    package static let sha1 = HashMethod("SHA1", size: 20)
    package static let sha224 = HashMethod("SHA224", size: 28)
    package static let sha256 = HashMethod("SHA256", size: 32)
    package static let sha384 = HashMethod("SHA384", size: 48)
    package static let sha512 = HashMethod("SHA512", size: 64)
    package static let sha512Truncated = HashMethod("SHA512-256", size: 32)
    package static let sha3of256 = HashMethod("SHA3-256", size: 32)
    package static let sha3of384 = HashMethod("SHA3-384", size: 48)
    package static let sha3of512 = HashMethod("SHA3-512", size: 64)

    package var pointer: OpaquePointer? { method }
}

/// Contexts of HMAC with one key, for many threads.
///
/// A context is mutable, so each concurrent call needs its own. Duplicating an `EVP_MAC_CTX` that holds the key costs a quarter
/// of creating one. So contexts are duplicated and pooled; the pool grows to the largest number ever in use at once.
package final class HMACContexts: Sendable {
    /// Owned by the call that took it from the pool, so two threads never use it at once.
    package struct Context: @unchecked Sendable {
        package let pointer: OpaquePointer
    }

    // Never changed once it has its key: it is only duplicated.
    private nonisolated(unsafe) let keyed: OpaquePointer
    private let idle = Locked<[Context]>([])

    package convenience init(_ secret: Secret, _ hash: HashMethod) throws(CryptoError) {
        self.init(keyed: try secret.withUnsafeBytes { key throws(CryptoError) in try Self.keyedContext(key, hash) })
    }

    /// Takes the bytes of a key, such as a derived one; the caller wipes them.
    package convenience init(_ key: UnsafeRawBufferPointer, _ hash: HashMethod) throws(CryptoError) {
        self.init(keyed: try Self.keyedContext(key, hash))
    }

    // This initialiser never throws: Embedded Swift doesn't free an object whose initialiser has thrown.
    private init(keyed: OpaquePointer) {
        self.keyed = keyed
    }

    deinit {
        // libcrypto overwrites a context's key and state when it frees the context.
        for context in idle.withLock({ $0 }) { EVP_MAC_CTX_free(context.pointer) }
        EVP_MAC_CTX_free(keyed)
    }

    /// Takes a context for a new message from the pool.
    package func take() -> Context? {
        guard let context = idle.withLock({ $0.popLast() }) ?? EVP_MAC_CTX_dup(keyed).map(Context.init) else { return nil }
        // Without a key, init restarts with the key that the context holds.
        guard EVP_MAC_init(context.pointer, nil, 0, nil) == 1 else {
            EVP_MAC_CTX_free(context.pointer)
            return nil
        }
        return context
    }

    package func putBack(_ context: Context) {
        idle.withLock { $0.append(context) }
    }

    private static func keyedContext(
        _ key: UnsafeRawBufferPointer, _ hash: HashMethod
    ) throws(CryptoError) -> OpaquePointer {
        guard let context = newContext(key, hash) else { throw CryptoError(libcrypto: "can't set up HMAC") }
        return context
    }

    private static func newContext(_ key: UnsafeRawBufferPointer, _ hash: HashMethod) -> OpaquePointer? {
        guard let hmac = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(hmac) }
        guard let context = EVP_MAC_CTX_new(hmac) else { return nil }
        // The name is static, because libcrypto keeps the pointer until init.
        let digest: StaticString = "digest"
        let isKeyed = withUnsafeTemporaryAllocation(of: OSSL_PARAM.self, capacity: 2) { parameters in
            parameters.initializeElement(
                at: 0,
                to: OSSL_PARAM_construct_utf8_string(
                    digest.characters, UnsafeMutablePointer(mutating: hash.name.characters), 0))
            parameters.initializeElement(at: 1, to: OSSL_PARAM_construct_end())
            // A null pointer would mean that there is no key, but an empty key is valid too.
            var none: UInt8 = 0
            return withUnsafePointer(to: &none) { none in
                EVP_MAC_init(context, key.bytes ?? none, key.count, parameters.baseAddress) == 1
            }
        }
        if isKeyed { return context }
        EVP_MAC_CTX_free(context)
        return nil
    }
}
