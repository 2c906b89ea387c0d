internal import COpenSSL
internal import NevodPluginKit

/// HMAC-SHA256 under one key, from many threads.
///
/// An `EVP_MAC_CTX` that already holds the key costs a quarter of a fresh one, but is mutable. So contexts are pooled: as many
/// exist as ever were in use at once.
final class HMACKey: Sendable {
    static let codeSize = 32

    // Immutable once keyed: it is only ever duplicated.
    private nonisolated(unsafe) let keyed: OpaquePointer
    private let idle = Locked<[Context]>([])

    init(_ secret: Secret) throws(SchemeFailure) {
        guard let keyed = Self.keyedContext(secret) else { throw .openSSL("can't set up HMAC-SHA256") }
        self.keyed = keyed
    }

    deinit {
        // OpenSSL overwrites a context's key and state when it frees it.
        for context in idle.withLock({ $0 }) { EVP_MAC_CTX_free(context.pointer) }
        EVP_MAC_CTX_free(keyed)
    }

    func authenticationCode(for message: Span<UInt8>) throws(SchemeFailure) -> InlineArray<32, UInt8> {
        guard let context = idle.withLock({ $0.popLast() }) ?? EVP_MAC_CTX_dup(keyed).map(Context.init) else {
            throw .openSSL("can't copy a context of HMAC-SHA256")
        }
        defer { idle.withLock { $0.append(context) } }
        var code = InlineArray<32, UInt8>(repeating: 0)
        var count = 0
        var output = code.mutableSpan
        let done = output.withUnsafeMutableBufferPointer { output in
            message.withUnsafeBufferPointer { message in
                // Without a key, init starts over with the key that the context holds.
                EVP_MAC_init(context.pointer, nil, 0, nil) == 1
                    && EVP_MAC_update(context.pointer, message.baseAddress, message.count) == 1
                    && EVP_MAC_final(context.pointer, output.baseAddress, &count, output.count) == 1
            }
        }
        guard done, count == Self.codeSize else { throw .openSSL("HMAC-SHA256 failed") }
        return code
    }

    /// OpenSSL keeps the pointer: a Swift string passed as an argument would be gone before it looks.
    private static var digestParameter: UnsafePointer<CChar> {
        let name: StaticString = "digest"
        return UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    }

    private static func keyedContext(_ secret: Secret) -> OpaquePointer? {
        guard let algorithm = EVP_MAC_fetch(nil, "HMAC", nil) else { return nil }
        defer { EVP_MAC_free(algorithm) }
        guard let context = EVP_MAC_CTX_new(algorithm) else { return nil }
        var digest = Array("SHA256".utf8CString)
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

    /// Owned by whoever took it out of the pool, so it never runs on two threads at once.
    private struct Context: @unchecked Sendable {
        let pointer: OpaquePointer
    }
}

extension SchemeFailure {
    /// OpenSSL's own words are the detail.
    static func openSSL(_ message: String) -> SchemeFailure {
        var text = [CChar](repeating: 0, count: 256)
        ERR_error_string_n(ERR_get_error(), &text, text.count)
        return .internal(message, detail: String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))
    }
}
