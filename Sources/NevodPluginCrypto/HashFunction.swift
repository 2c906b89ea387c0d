internal import COpenSSL
internal import NevodCrypto
public import NevodPluginKit

/// A hash function (RFC 1321, FIPS 180-4, FIPS 202). As the type of a setting, a choice.
public enum HashFunction: String, CaseIterable, SettingValue {
    /// 16 bytes. Broken: anybody can make two messages with one digest. For servers that know nothing else.
    case md5
    /// 20 bytes. Broken for signatures; HMAC-SHA1 still stands, and some servers know nothing else.
    case sha1
    /// 28 bytes.
    case sha224
    /// 32 bytes.
    case sha256
    /// 48 bytes.
    case sha384
    /// 64 bytes.
    case sha512
    /// 32 bytes: SHA-512/256, which begins with other numbers than SHA-512.
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

    /// The digest of a whole message. For one in pieces there is ``HashStream``.
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

    /// The HMAC (RFC 2104) of a message with a key that is used once. For a key that is used again there is ``HMACKey``.
    ///
    /// - Throws: `SchemeError.internal` if libcrypto fails.
    public func hmac(key: Span<UInt8>, of message: Span<UInt8>) throws(SchemeError) -> Digest {
        var digest = Digest(count: size)
        let method = method.pointer
        // An empty key is a key; without a pointer, libcrypto would take the last one.
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
