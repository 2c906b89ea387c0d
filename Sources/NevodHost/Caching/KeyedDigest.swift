internal import COpenSSL
internal import NevodSupport

/// HMAC-SHA256 with a random key for each process. Equal inputs have equal digests, and even a short or guessable credential
/// can't be recovered from its digest.
struct KeyedDigest: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    /// The digest of no input.
    static let empty = KeyedDigest(words: .zero)
}

extension KeyedDigest {
    /// Computes a digest of a list of parts. Each part is prefixed with its length, so that different lists never collide.
    struct Builder: ~Copyable {
        private let context: OpaquePointer
        private var isValid = true

        /// Returns nil if libcrypto can't provide a context or random bytes.
        init?() {
            guard let context = Self.idle.withLock({ $0.popLast()?.pointer }) ?? Self.keyed.flatMap(EVP_MAC_CTX_dup) else {
                return nil
            }
            self.context = context
            isValid = EVP_MAC_init(context, nil, 0, nil) == 1
        }

        deinit {
            let unused = Context(pointer: context)
            Self.idle.withLock { $0.append(unused) }
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

        /// A context in `idle` has no other users; removing it transfers ownership.
        private struct Context: @unchecked Sendable {
            let pointer: OpaquePointer
        }
        private static let idle = Locked<[Context]>([])

        // Created once, then only duplicated; never freed.
        private nonisolated(unsafe) static let keyed: OpaquePointer? = {
            var key = [UInt8](repeating: 0, count: 32)
            defer { key.withUnsafeMutableBytes { $0.wipe() } }
            guard RAND_bytes(&key, Int32(key.count)) == 1, let hmac = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
            defer { EVP_MAC_free(hmac) }
            guard let context = EVP_MAC_CTX_new(hmac) else { return nil }
            var digest = Array("SHA256".utf8CString)
            let isKeyed = digest.withUnsafeMutableBufferPointer { digest in
                let parameters = [
                    OSSL_PARAM_construct_utf8_string(digestParameter, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
                ]
                return EVP_MAC_init(context, key, key.count, parameters) == 1
            }
            guard isKeyed else {
                EVP_MAC_CTX_free(context)
                return nil
            }
            return context
        }()
    }
}

/// A static string, since libcrypto keeps the pointer until EVP_MAC_init: a Swift string's buffer is valid for one call only.
private var digestParameter: UnsafePointer<CChar> {
    let name: StaticString = "digest"
    return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
}
