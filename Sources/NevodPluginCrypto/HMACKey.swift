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
/// A use allocates only if more threads use the key at once than ever before.
public final class HMACKey: Sendable {
    /// The hash function of the HMAC.
    public let function: HashFunction
    private let contexts: HMACContexts

    /// Sets up a key of any length. The secret itself is not kept; libcrypto wipes what it derives from it.
    ///
    /// - Throws: `SchemeError.internal` if libcrypto fails.
    public convenience init(_ secret: Secret, _ function: HashFunction) throws(SchemeError) {
        do throws(CryptoError) {
            self.init(function, try HMACContexts(secret, function.method))
        } catch {
            throw SchemeError(error)
        }
    }

    // Doesn't throw, because Embedded Swift does not free an object whose initialiser throws.
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

    /// Whether a code is correct for a message. Takes a time that doesn't depend on the code's bytes.
    public func isCode(_ code: Span<UInt8>, of message: Span<UInt8>) throws(SchemeError) -> Bool {
        ConstantTime.areEqual(try self.code(of: message).bytes, code)
    }
}

/// Takes the message of an ``HMACKey`` in pieces. Small pieces are gathered, because each update costs as much as hashing a short
/// message. Large pieces are hashed directly.
public struct HMACInput: ~Copyable, ByteSink {
    @usableFromInline let context: OpaquePointer
    @usableFromInline let gathered: UnsafeMutableRawBufferPointer
    @usableFromInline var count = 0
    /// The largest number of bytes gathered at once. This many bytes are wiped at the end.
    @usableFromInline var most = 0
    @usableFromInline var succeeded = true

    private init(_ context: OpaquePointer, _ gathered: UnsafeMutableRawBufferPointer) {
        self.context = context
        self.gathered = gathered
    }

    static func feed(_ context: OpaquePointer, _ feed: (inout HMACInput) -> Void) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { memory in
            var input = HMACInput(context, memory)
            feed(&input)
            input.flush()
            UnsafeMutableRawBufferPointer(rebasing: memory[..<input.most]).wipe()
            return input.succeeded
        }
    }

    /// Appends bytes unchanged.
    @inlinable
    public mutating func append(_ bytes: Span<UInt8>) {
        bytes.withUnsafeBytes { bytes in
            guard let source = bytes.baseAddress, let place = gathered.baseAddress else { return }
            guard bytes.count <= gathered.count - count else { return appendLarge(bytes) }
            (place + count).copyMemory(from: source, byteCount: bytes.count)
            count += bytes.count
        }
    }

    @inline(never)
    @usableFromInline
    mutating func appendLarge(_ bytes: UnsafeRawBufferPointer) {
        flush()
        guard bytes.count <= gathered.count else { return update(bytes) }
        gathered.copyMemory(from: bytes)
        count = bytes.count
    }

    private mutating func flush() {
        update(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(gathered)[..<count]))
        most = max(most, count)
        count = 0
    }

    private mutating func update(_ bytes: UnsafeRawBufferPointer) {
        succeeded = EVP_MAC_update(context, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count) == 1 && succeeded
    }
}
