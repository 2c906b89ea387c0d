internal import COpenSSL
internal import NevodCrypto
public import NevodPluginKit

/// Hashes a message that is appended in pieces, in each format of `ByteSink`.
///
/// ```swift
/// var canonical = HashStream(.sha256)
/// canonical.append(request.method)
/// canonical.append(ascii: "\n")
/// canonical.append(canonicalQuery: request.query)
/// let digest = try canonical.finish()
/// ```
public struct HashStream: ~Copyable, ByteSink {
    private let function: HashFunction
    private let context: OpaquePointer?
    private var isIntact: Bool

    /// Begins a message.
    public init(_ function: HashFunction) {
        self.function = function
        context = EVP_MD_CTX_new()
        isIntact = EVP_DigestInit_ex2(context, function.method.pointer, nil) == 1
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Appends bytes unchanged.
    public mutating func append(_ bytes: Span<UInt8>) {
        let context = context
        isIntact = isIntact && bytes.withUnsafeBytes { EVP_DigestUpdate(context, $0.baseAddress, $0.count) == 1 }
    }

    /// Ends the message.
    ///
    /// - Throws: `SchemeError.internal` if libcrypto failed, here or before.
    public consuming func finish() throws(SchemeError) -> Digest {
        var digest = Digest(count: function.size)
        let context = context
        guard isIntact, digest.withMutableBytes({ EVP_DigestFinal_ex(context, $0, nil) == 1 }) else {
            throw SchemeError(CryptoError(libcrypto: "can't compute \(function.rawValue)"))
        }
        return digest
    }
}
