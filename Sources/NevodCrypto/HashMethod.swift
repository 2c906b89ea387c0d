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

    package static let sha1 = HashMethod("SHA1", size: 20)
    package static let sha256 = HashMethod("SHA256", size: 32)
    package static let sha384 = HashMethod("SHA384", size: 48)
    package static let sha512 = HashMethod("SHA512", size: 64)

    package var pointer: OpaquePointer? { method }
}
