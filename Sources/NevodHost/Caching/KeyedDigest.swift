internal import COpenSSL
internal import NevodSupport

/// HMAC-SHA256 with a cache's key: a random key for each process, or the file's own. Equal inputs have equal digests, and even a
/// short or guessable credential can't be recovered from its digest.
struct KeyedDigest: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    /// In bytes.
    static let size = 32

    /// The digest of no input.
    static let empty = KeyedDigest(words: .zero)

    private init(words: SIMD4<UInt64>) {
        self.words = words
    }

    /// - Returns: nil unless there are 32 bytes.
    init?(_ bytes: some Collection<UInt8>) {
        var words = SIMD4<UInt64>.zero
        guard bytes.count == Self.size else { return nil }
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
        self.words = words
    }

    var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0) } }
}

extension KeyedDigest {
    /// Computes a digest of a list of parts. Each part is prefixed with its length, so that different lists never collide.
    struct Builder: ~Copyable {
        private let key: Key
        private let context: OpaquePointer
        private var isValid = true

        /// Returns nil if libcrypto can't provide a context.
        init?(_ key: Key?) {
            guard let key, let context = key.context() else { return nil }
            self.key = key
            self.context = context
            isValid = EVP_MAC_init(context, nil, 0, nil) == 1
        }

        deinit {
            key.reuse(context)
        }

        mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
            var count = UInt64(bytes.count)
            let length = withUnsafeBytes(of: &count) { prefix in
                EVP_MAC_update(context, prefix.baseAddress?.assumingMemoryBound(to: UInt8.self), prefix.count)
            }
            isValid = isValid && length == 1 && (bytes.isEmpty || EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1)
        }

        mutating func add(_ text: String) {
            var text = text
            text.withUTF8 { add($0) }
        }

        mutating func add(_ digest: KeyedDigest) {
            withUnsafeBytes(of: digest.words) { words in words.withMemoryRebound(to: UInt8.self) { add($0) } }
        }

        mutating func finish() -> KeyedDigest? {
            var words = SIMD4<UInt64>.zero
            var count = 0
            let done = withUnsafeMutableBytes(of: &words) { bytes in
                EVP_MAC_final(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, bytes.count)
            }
            return isValid && done == 1 && count == MemoryLayout.size(ofValue: words) ? KeyedDigest(words: words) : nil
        }
    }
}

extension KeyedDigest {
    /// A key for digests. Digests with different keys never match.
    final class Key: Sendable {
        /// The key for caches in memory: random for each process. Nil if libcrypto can't provide random bytes.
        static let ofProcess: Key? = {
            var isRandom = false
            let key = Secret(count: 32) { key in
                isRandom = RAND_bytes(key.bindMemory(to: UInt8.self).baseAddress, Int32(key.count)) == 1
            }
            return isRandom ? Key(key) : nil
        }()

        // Initialized with the key once, and then only duplicated.
        private nonisolated(unsafe) let keyed: OpaquePointer
        private let idle = Locked<[Context]>([])

        /// A context in `idle` has no other users; removing it transfers ownership.
        private struct Context: @unchecked Sendable {
            let pointer: OpaquePointer
        }

        /// Returns nil if libcrypto can't provide a context.
        init?(_ secret: Secret) {
            guard let hmac = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
            defer { EVP_MAC_free(hmac) }
            guard let context = EVP_MAC_CTX_new(hmac) else { return nil }
            var digest = Array("SHA256".utf8CString)
            let isKeyed = digest.withUnsafeMutableBufferPointer { digest in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(digestParameter, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                return secret.withUnsafeBytes { key in
                    EVP_MAC_init(context, key.bindMemory(to: UInt8.self).baseAddress, key.count, parameters) == 1
                }
            }
            guard isKeyed else {
                EVP_MAC_CTX_free(context)
                return nil
            }
            keyed = context
        }

        deinit {
            for context in idle.withLock(\.self) { EVP_MAC_CTX_free(context.pointer) }
            EVP_MAC_CTX_free(keyed)
        }

        fileprivate func context() -> OpaquePointer? {
            idle.withLock { $0.popLast()?.pointer } ?? EVP_MAC_CTX_dup(keyed)
        }

        fileprivate func reuse(_ context: OpaquePointer) {
            let unused = Context(pointer: context)
            idle.withLock { $0.append(unused) }
        }
    }
}

/// A static string, because libcrypto keeps the pointer until EVP_MAC_init. A Swift string's buffer is valid for one call only.
private var digestParameter: UnsafePointer<CChar> {
    let name: StaticString = "digest"
    return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
}
