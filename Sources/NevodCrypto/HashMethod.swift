internal import COpenSSL

/// A hash function of libcrypto, looked up once.
package struct HashMethod: Sendable {
    package static let largestDigest = 64

    package let size: Int
    package let name: StaticString
    /// Nil if libcrypto doesn't have it. Never freed, and never changed.
    private nonisolated(unsafe) let method: OpaquePointer?

    private init(_ name: StaticString, size: Int) {
        self.name = name
        self.size = size
        method = name.withUTF8Buffer {
            EVP_MD_fetch(nil, UnsafeRawPointer($0.baseAddress)?.assumingMemoryBound(to: CChar.self), nil)
        }
    }

    package static let md5 = HashMethod("MD5", size: 16)
    package static let sha1 = HashMethod("SHA1", size: 20)
    package static let sha224 = HashMethod("SHA224", size: 28)
    package static let sha256 = HashMethod("SHA256", size: 32)
    package static let sha384 = HashMethod("SHA384", size: 48)
    package static let sha512 = HashMethod("SHA512", size: 64)
    package static let sha512Truncated = HashMethod("SHA512-256", size: 32)
    package static let sha3of256 = HashMethod("SHA3-256", size: 32)
    package static let sha3of384 = HashMethod("SHA3-384", size: 48)
    package static let sha3of512 = HashMethod("SHA3-512", size: 64)

    package var pointer: OpaquePointer? { method }
}
