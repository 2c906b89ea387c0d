internal import COpenSSL
package import NevodSupport

/// Contexts of HMAC with one key, for many threads.
///
/// Duplicating an `EVP_MAC_CTX` that holds the key costs a quarter of creating one, but a context is mutable. So contexts are pooled;
/// there are as many as were ever in use at once.
package final class HMACContexts: Sendable {
    /// Owned by the call that took it out of the pool, so it is never used on two threads at once.
    package struct Context: @unchecked Sendable {
        package let pointer: OpaquePointer
    }

    // Never changed once it is keyed: it is only duplicated.
    private nonisolated(unsafe) let keyed: OpaquePointer
    private let idle = Locked<[Context]>([])

    package convenience init(_ secret: Secret, _ hash: HashMethod) throws(CryptoError) {
        self.init(keyed: try secret.withUnsafeBytes { key throws(CryptoError) in try Self.keyedContext(key, hash) })
    }

    /// For a key that is derived from another; the caller wipes it.
    package convenience init(_ key: UnsafeRawBufferPointer, _ hash: HashMethod) throws(CryptoError) {
        self.init(keyed: try Self.keyedContext(key, hash))
    }

    // The initialisers that create an object throw nothing: Embedded Swift frees none that was begun.
    private init(keyed: OpaquePointer) {
        self.keyed = keyed
    }

    deinit {
        // libcrypto overwrites a context's key and state when it frees it.
        for context in idle.withLock({ $0 }) { EVP_MAC_CTX_free(context.pointer) }
        EVP_MAC_CTX_free(keyed)
    }

    /// A context at the beginning of a message.
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
        // A static name, since libcrypto keeps the pointer until init.
        let digest: StaticString = "digest"
        let isKeyed = withUnsafeTemporaryAllocation(of: OSSL_PARAM.self, capacity: 2) { parameters in
            parameters.initializeElement(
                at: 0,
                to: OSSL_PARAM_construct_utf8_string(
                    digest.characters, UnsafeMutablePointer(mutating: hash.name.characters), 0))
            parameters.initializeElement(at: 1, to: OSSL_PARAM_construct_end())
            // An empty key is a key, and not the absence of one, which a missing pointer stands for.
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
