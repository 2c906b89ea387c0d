internal import COpenSSL
internal import NevodPluginKit

/// HMAC with one key, for many threads.
///
/// Duplicating an `EVP_MAC_CTX` that holds the key costs a quarter of creating one, but a context is mutable. So contexts are pooled;
/// there are as many as were ever in use at once.
final class HMACKey: Sendable {
    let codeSize: Int
    static let largestCode = 64

    // Never changed once it is keyed: it is only duplicated.
    private nonisolated(unsafe) let keyed: OpaquePointer
    private let idle = Locked<[Context]>([])

    init(_ secret: Secret, _ algorithm: HashAlgorithm) throws(SchemeError) {
        guard let keyed = Self.keyedContext(secret, algorithm) else { throw .openSSL("can't set up HMAC-\(algorithm.name)") }
        self.keyed = keyed
        codeSize = algorithm.size
    }

    deinit {
        // OpenSSL overwrites a context's key and state when it frees it.
        for context in idle.withLock({ $0 }) { EVP_MAC_CTX_free(context.pointer) }
        EVP_MAC_CTX_free(keyed)
    }

    /// Computes the authentication code of a message.
    ///
    /// - Parameter feed: appends the message.
    /// - Returns: the code in the first ``codeSize`` bytes.
    func authenticationCode(_ feed: (inout Input) -> Void) throws(SchemeError) -> InlineArray<64, UInt8> {
        guard let context = idle.withLock({ $0.popLast() }) ?? EVP_MAC_CTX_dup(keyed).map(Context.init) else {
            throw .openSSL("can't copy a context of HMAC")
        }
        defer { idle.withLock { $0.append(context) } }
        var code = InlineArray<64, UInt8>(repeating: 0)
        var count = 0
        var output = code.mutableSpan
        let done = output.withUnsafeMutableBufferPointer { output in
            // Without a key, init restarts with the key that the context holds.
            EVP_MAC_init(context.pointer, nil, 0, nil) == 1
                && Input.feed(context.pointer, feed)
                && EVP_MAC_final(context.pointer, output.baseAddress, &count, output.count) == 1
        }
        guard done, count == codeSize else { throw .openSSL("HMAC failed") }
        return code
    }

    /// Takes a message in pieces. Small pieces are gathered, because each update costs as much as hashing a short message; large ones
    /// are hashed directly.
    struct Input: ~Copyable {
        private let context: OpaquePointer
        private let gathered: UnsafeMutableBufferPointer<UInt8>
        private var count = 0
        /// The largest number of bytes gathered at once, which are wiped at the end.
        private var most = 0
        private var succeeded = true

        private init(_ context: OpaquePointer, _ gathered: UnsafeMutableBufferPointer<UInt8>) {
            self.context = context
            self.gathered = gathered
        }

        fileprivate static func feed(_ context: OpaquePointer, _ feed: (inout Input) -> Void) -> Bool {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 512) { memory in
                var input = Input(context, memory)
                feed(&input)
                input.flush()
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(memory)[..<input.most]).wipe()
                return input.succeeded
            }
        }

        mutating func append(_ bytes: Span<UInt8>) {
            bytes.withUnsafeBufferPointer { bytes in
                guard let source = bytes.baseAddress else { return }
                guard bytes.count <= gathered.count - count else { return appendLarge(bytes) }
                gathered.baseAddress.unsafelyUnwrapped.advanced(by: count).update(from: source, count: bytes.count)
                count += bytes.count
            }
        }

        @inline(never)
        private mutating func appendLarge(_ bytes: UnsafeBufferPointer<UInt8>) {
            flush()
            guard bytes.count <= gathered.count else { return update(bytes) }
            _ = UnsafeMutableBufferPointer(rebasing: gathered[..<bytes.count]).update(fromContentsOf: bytes)
            count = bytes.count
        }

        private mutating func flush() {
            update(UnsafeBufferPointer(rebasing: UnsafeBufferPointer(gathered)[..<count]))
            most = max(most, count)
            count = 0
        }

        private mutating func update(_ bytes: UnsafeBufferPointer<UInt8>) {
            succeeded = EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1 && succeeded
        }
    }

    /// A static name, because OpenSSL keeps the pointer, and a Swift string passed as an argument would be freed before its use.
    private static var digestParameter: UnsafePointer<CChar> {
        let name: StaticString = "digest"
        return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    private static func keyedContext(_ secret: Secret, _ algorithm: HashAlgorithm) -> OpaquePointer? {
        guard let hmac = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(hmac) }
        guard let context = EVP_MAC_CTX_new(hmac) else { return nil }
        var digest = Array(algorithm.name.utf8CString)
        let keyed = digest.withUnsafeMutableBufferPointer { digest in
            let parameters = [
                OSSL_PARAM_construct_utf8_string(digestParameter, digest.baseAddress, 0), OSSL_PARAM_construct_end(),
            ]
            return secret.withUnsafeBytes {
                EVP_MAC_init(context, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), $0.count, parameters) == 1
            }
        }
        guard keyed else {
            EVP_MAC_CTX_free(context)
            return nil
        }
        return context
    }

    /// Owned by the call that took it out of the pool, so it is never used on two threads at once.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }
}

extension SchemeError {
    /// An internal error with OpenSSL's message as its detail.
    static func openSSL(_ message: String) -> SchemeError {
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(ERR_get_error(), &text, text.count)
        return .internal(message, detail: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
