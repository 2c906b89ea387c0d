internal import COpenSSL
internal import NevodCrypto
public import NevodPluginKit

/// A hash function (RFC 1321, FIPS 180-4, FIPS 202). As the type of a setting, a choice.
public enum HashFunction: String, CaseIterable, SettingValue {
    /// 16 bytes. Broken: anybody can make two messages with the same digest. Only for servers that support nothing else.
    case md5
    /// 20 bytes. Broken for signatures. HMAC-SHA1 is not broken, and some servers support nothing else.
    case sha1
    /// 28 bytes.
    case sha224
    /// 32 bytes.
    case sha256
    /// 48 bytes.
    case sha384
    /// 64 bytes.
    case sha512
    /// 32 bytes: SHA-512/256. Not a cut SHA-512, because its initial values differ.
    case sha512Truncated = "sha512-256"
    /// 32 bytes: SHA-3.
    case sha3of256 = "sha3-256"
    /// 48 bytes: SHA-3.
    case sha3of384 = "sha3-384"
    /// 64 bytes: SHA-3.
    case sha3of512 = "sha3-512"

    /// The digest's size in bytes.
    @inlinable
    public var size: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha224: 28
        case .sha256, .sha512Truncated, .sha3of256: 32
        case .sha384, .sha3of384: 48
        case .sha512, .sha3of512: 64
        }
    }

    /// The digest of a whole message. For a message in pieces, use ``HashStream``.
    ///
    /// - Throws: `SchemeError.internal` if libcrypto fails.
    public func digest(of message: Span<UInt8>) throws(SchemeError) -> Digest {
        var digest = Digest(count: size)
        let method = method.pointer
        let isDone = message.withUnsafeBytes { message in
            digest.withMutableBytes { EVP_Digest(message.baseAddress, message.count, $0, nil, method, nil) == 1 }
        }
        guard isDone else { throw SchemeError(CryptoError(libcrypto: "can't compute \(rawValue)")) }
        return digest
    }

    /// The digest of a text in UTF-8.
    public func digest(of message: String) throws(SchemeError) -> Digest {
        var message = message
        message.makeContiguousUTF8()
        return try digest(of: message.utf8Span.span)
    }

    /// The HMAC (RFC 2104) of a message, with a key that is used once. For a key that is used again, use ``HMACKey``.
    ///
    /// - Throws: `SchemeError.internal` if libcrypto fails.
    public func hmac(key: Span<UInt8>, of message: Span<UInt8>) throws(SchemeError) -> Digest {
        var digest = Digest(count: size)
        let method = method.pointer
        // An empty key is valid, but needs a pointer: with NULL, libcrypto would use the previous key.
        let none = InlineArray<1, UInt8>(repeating: 0)
        let isDone = message.withUnsafeBytes { message in
            key.withUnsafeBytes { key in
                none.span.withUnsafeBytes { none in
                    digest.withMutableBytes {
                        HMAC(
                            method, key.baseAddress ?? none.baseAddress, Int32(clamping: key.count),
                            message.bytes ?? none.bytes, message.count, $0, nil) != nil
                    }
                }
            }
        }
        guard isDone else { throw SchemeError(CryptoError(libcrypto: "can't compute HMAC-\(rawValue)")) }
        return digest
    }

    /// The HMAC of a text in UTF-8.
    public func hmac(key: Span<UInt8>, of message: String) throws(SchemeError) -> Digest {
        var message = message
        message.makeContiguousUTF8()
        return try hmac(key: key, of: message.utf8Span.span)
    }

    var method: HashMethod {
        switch self {
        case .md5: .md5
        case .sha1: .sha1
        case .sha224: .sha224
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        case .sha512Truncated: .sha512Truncated
        case .sha3of256: .sha3of256
        case .sha3of384: .sha3of384
        case .sha3of512: .sha3of512
        }
    }
}

/// The result of a hash function or of an HMAC, stored inline.
public struct Digest: Sendable {
    @usableFromInline var storage = InlineArray<64, UInt8>(repeating: 0)
    /// The number of bytes.
    public let count: Int

    @inlinable
    init(count: Int) {
        self.count = count
    }

    /// Copies the bytes of a digest that was computed elsewhere, such as by the host.
    ///
    /// - Parameter bytes: at most 64; any further bytes are left out.
    public init(_ bytes: Span<UInt8>) {
        count = min(bytes.count, 64)
        for index in 0..<count { storage[index] = bytes[index] }
    }

    /// The bytes.
    public var bytes: Span<UInt8> {
        @inlinable @_lifetime(borrow self) get { storage.span.extracting(first: count) }
    }

    /// Two lower-case hexadecimal digits for each byte.
    public var hex: String {
        var text: [UInt8] = []
        text.append(hex: bytes)
        return String(decoding: text, as: UTF8.self)
    }

    /// The digest in base64, padded (RFC 4648 §4).
    public var base64: String {
        var text: [UInt8] = []
        text.append(base64: bytes)
        return String(decoding: text, as: UTF8.self)
    }

    /// Overwrites the digest. For a digest that was a key.
    public mutating func wipe() {
        withMutableBytes { UnsafeMutableRawBufferPointer(start: $0, count: 64).wipe() }
    }

    @inlinable
    mutating func withMutableBytes<Result>(_ body: (UnsafeMutablePointer<UInt8>?) -> Result) -> Result {
        var storage = storage.mutableSpan
        return storage.withUnsafeMutableBufferPointer { body($0.baseAddress) }
    }
}

extension Digest: Equatable {
    /// Compares in a time that depends only on the lengths.
    public static func == (left: Digest, right: Digest) -> Bool {
        ConstantTime.areEqual(left.bytes, right.bytes)
    }
}

/// Hashes a message that is appended in pieces. The pieces may have any format of `ByteSink`.
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
    /// - Throws: `SchemeError.internal` if libcrypto failed, now or earlier.
    public consuming func finish() throws(SchemeError) -> Digest {
        var digest = Digest(count: function.size)
        let context = context
        guard isIntact, digest.withMutableBytes({ EVP_DigestFinal_ex(context, $0, nil) == 1 }) else {
            throw SchemeError(CryptoError(libcrypto: "can't compute \(function.rawValue)"))
        }
        return digest
    }
}

/// Comparisons that take the same time wherever the difference is. For a code or a signature from outside.
public enum ConstantTime {
    /// Whether both have the same bytes. Takes a time that depends only on the lengths.
    public static func areEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return left.withUnsafeBytes { left in
            right.withUnsafeBytes { right in left.isEmpty || CRYPTO_memcmp(left.baseAddress, right.baseAddress, left.count) == 0 }
        }
    }
}
