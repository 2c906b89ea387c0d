internal import COpenSSL

/// The first block of a PEM, in memory of libcrypto, which is wiped.
package struct PEMBlock: ~Copyable {
    package let label: String
    /// Whether the block is encrypted in the way of RFC 1421 (`Proc-Type: 4,ENCRYPTED`).
    package let isEncrypted: Bool
    package let bytes: UnsafeRawBufferPointer

    /// - Returns: nil if there is no block. The parameters of a curve, which `openssl ecparam` writes in front of a key, are skipped.
    package static func first(of pem: UnsafeRawBufferPointer) -> PEMBlock? {
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let bio = BIO_new_mem_buf(pem.baseAddress, Int32(clamping: pem.count)) else { return nil }
        defer { BIO_free(bio) }
        for _ in 0..<2 {
            guard let block = PEMBlock(bio) else { return nil }
            if block.label != "EC PARAMETERS" { return block }
        }
        return nil
    }

    private init?(_ bio: OpaquePointer) {
        var (name, header, data): (UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<CChar>?, UnsafeMutablePointer<UInt8>?)
        var count = 0
        // Has libcrypto wipe its buffers, because the block may be a private key.
        let flags = UInt32(bitPattern: PEM_FLAG_SECURE | PEM_FLAG_EAY_COMPATIBLE)
        guard PEM_read_bio_ex(bio, &name, &header, &data, &count, flags) == 1, let name, let data else { return nil }
        label = String(cString: name)
        isEncrypted = header.map { String(cString: $0) }?.hasPrefix("Proc-Type: 4,ENCRYPTED") ?? false
        bytes = UnsafeRawBufferPointer(start: data, count: count)
        CRYPTO_secure_clear_free(name, 0, nil, 0)
        CRYPTO_secure_clear_free(header, 0, nil, 0)
    }

    deinit {
        CRYPTO_secure_clear_free(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count, nil, 0)
    }
}
