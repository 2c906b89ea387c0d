internal import COpenSSL
internal import NevodSupport

/// HMAC-SHA256 under a key that each process makes at random and keeps to itself: equal inputs have equal digests, and
/// nobody learns an input from its digest, however short or guessable a credential is.
struct KeyedDigest: Hashable, Sendable {
    private let words: SIMD4<UInt64>

    /// Of no input at all.
    static let nothing = KeyedDigest(words: .zero)
}

extension KeyedDigest {
    /// A digest in the making. Each part goes in with its length before it, so that no two lists of parts run together.
    struct Maker: ~Copyable {
        private let context: OpaquePointer
        private var isSound = true

        /// Nil when libcrypto has no context or no randomness left.
        init?() {
            guard let context = Self.idle.withLock({ $0.popLast()?.pointer }) ?? Self.keyed.flatMap(EVP_MAC_CTX_dup) else {
                return nil
            }
            self.context = context
            isSound = EVP_MAC_init(context, nil, 0, nil) == 1
        }

        deinit {
            let spent = Context(pointer: context)
            Self.idle.withLock { $0.append(spent) }
        }

        mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
            var count = UInt64(bytes.count)
            let length = withUnsafeBytes(of: &count) { prefix in
                EVP_MAC_update(context, prefix.baseAddress?.assumingMemoryBound(to: UInt8.self), prefix.count)
            }
            isSound = isSound && length == 1 && (bytes.isEmpty || EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1)
        }

        mutating func add(_ text: String) {
            var text = text
            text.withUTF8 { add($0) }
        }

        mutating func finish() -> KeyedDigest? {
            var words = SIMD4<UInt64>.zero
            var count = 0
            let done = withUnsafeMutableBytes(of: &words) { bytes in
                EVP_MAC_final(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), &count, bytes.count)
            }
            return isSound && done == 1 && count == MemoryLayout.size(ofValue: words) ? KeyedDigest(words: words) : nil
        }

        /// Owned by whoever took it out.
        private struct Context: @unchecked Sendable {
            let pointer: OpaquePointer
        }
        private static let idle = Locked<[Context]>([])

        // Made once, afterwards only duplicated; never freed.
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

/// libcrypto keeps the pointer until EVP_MAC_init: a string that Swift lends for one call would be gone by then.
private var digestParameter: UnsafePointer<CChar> {
    let name: StaticString = "digest"
    return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
}
