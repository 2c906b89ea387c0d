internal import COpenSSL

/// SHA-256 (FIPS 180-4).
enum SHA256 {
    /// The size of a digest, in bytes.
    static let size = 32

    static func digest(of bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: size)
        let isDone = EVP_Digest(bytes.baseAddress, bytes.count, &digest, nil, EVP_sha256(), nil)
        precondition(isDone == 1, "OpenSSL has no SHA-256")
        return digest
    }
}
