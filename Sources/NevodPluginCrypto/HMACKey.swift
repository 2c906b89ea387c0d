internal import COpenSSL
internal import NevodCrypto
public import NevodPluginKit

/// HMAC (RFC 2104) with one key, prepared once and used by many threads.
///
/// ```swift
/// let key = try HMACKey(secret, .sha256)
/// let code = try key.code { message in
///     message.append(request.method)
///     message.append(ascii: "\n")
///     message.append(request.path)
/// }
/// ```
///
/// A use allocates nothing, after the first one on as many threads at once.
public final class HMACKey: Sendable {
    /// The hash function of the HMAC.
    public let function: HashFunction
    private let contexts: HMACContexts

    /// Sets up a key of any length. The secret itself is not kept; libcrypto wipes what it derives of it.
    ///
    /// - Throws: `SchemeError.internal` if libcrypto fails.
    public convenience init(_ secret: Secret, _ function: HashFunction) throws(SchemeError) {
        do throws(CryptoError) {
            self.init(function, try HMACContexts(secret, function.method))
        } catch {
            throw SchemeError(error)
        }
    }

    // Throws nothing: Embedded Swift does not free an object whose initialiser throws.
    private init(_ function: HashFunction, _ contexts: HMACContexts) {
        self.function = function
        self.contexts = contexts
    }

    /// Computes the authentication code of a message that is appended in pieces.
    ///
    /// - Parameter feed: appends the message.
    /// - Throws: `SchemeError.internal` if libcrypto fails.
    public func code(of feed: (inout HMACInput) -> Void) throws(SchemeError) -> Digest {
        guard let context = contexts.take() else { throw SchemeError(CryptoError(libcrypto: "can't copy a context of HMAC")) }
        defer { contexts.putBack(context) }
        var code = Digest(count: function.size)
        var count = 0
        let isDone =
            HMACInput.feed(context.pointer, feed)
            && code.withMutableBytes { EVP_MAC_final(context.pointer, $0, &count, 64) == 1 }
        guard isDone, count == function.size else { throw SchemeError(CryptoError(libcrypto: "HMAC failed")) }
        return code
    }

    /// Computes the authentication code of a whole message.
    public func code(of message: Span<UInt8>) throws(SchemeError) -> Digest {
        try message.withUnsafeBufferPointer { message throws(SchemeError) in
            try code { $0.append(Span(_unsafeElements: message)) }
        }
    }

    /// Computes the authentication code of a text in UTF-8.
    public func code(of message: String) throws(SchemeError) -> Digest {
        try code { $0.append(text: message) }
    }

    /// Whether a code is that of a message, in a time that doesn't depend on the code's bytes.
    public func isCode(_ code: Span<UInt8>, of message: Span<UInt8>) throws(SchemeError) -> Bool {
        ConstantTime.areEqual(try self.code(of: message).bytes, code)
    }
}
