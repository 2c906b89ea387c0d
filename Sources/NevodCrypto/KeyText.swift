internal import COpenSSL
package import NevodSupport

/// Keys in PEM and DER. Each function returns an EVP_PKEY that the caller owns.
package enum KeyText {
    package static let sizeLimit = 64 << 10

    /// Reads the first block of a PEM: a SubjectPublicKeyInfo, or a certificate, whose names and dates are ignored.
    package static func publicKey(pem: UnsafeRawBufferPointer) throws(CryptoError) -> OpaquePointer {
        guard pem.count <= sizeLimit else { throw CryptoError("the PEM has more than \(sizeLimit) bytes") }
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let block = PEMBlock.first(of: pem) else {
            throw CryptoError("the text has no PEM block (-----BEGIN PUBLIC KEY-----)")
        }
        switch block.label {
        case "PUBLIC KEY":
            guard let key = publicKey(der: block.bytes) else {
                throw CryptoError("the PEM's public key is invalid, or of an unknown kind")
            }
            return key
        case "CERTIFICATE":
            guard let key = certifiedKey(block.bytes) else {
                throw CryptoError("the PEM's certificate is invalid, or its key is not for signatures")
            }
            return key
        case let label where label.hasSuffix("PRIVATE KEY"):
            throw CryptoError("the PEM is a private key; verifying needs the public one (openssl pkey -pubout)")
        default:
            throw CryptoError("the PEM is neither a PUBLIC KEY nor a CERTIFICATE")
        }
    }

    /// Reads the first block of a PEM: PKCS #8 (RFC 5958), PKCS #1 (RFC 8017 §A.1.2) or SEC 1 (RFC 5915).
    package static func privateKey(pem: UnsafeRawBufferPointer) throws(CryptoError) -> OpaquePointer {
        guard pem.count <= sizeLimit else { throw CryptoError("the PEM has more than \(sizeLimit) bytes") }
        ERR_set_mark()
        defer { ERR_pop_to_mark() }
        guard let block = PEMBlock.first(of: pem) else {
            throw CryptoError("the text has no PEM block (-----BEGIN PRIVATE KEY-----)")
        }
        if block.isEncrypted || block.label == "ENCRYPTED PRIVATE KEY" {
            throw CryptoError("the PEM is encrypted; give it without a passphrase (openssl pkey -in KEY -out PLAIN)")
        }
        let kind: Int32? =
            switch block.label {
            case "PRIVATE KEY": nil
            case "RSA PRIVATE KEY": EVP_PKEY_RSA
            case "EC PRIVATE KEY": EVP_PKEY_EC
            case "PUBLIC KEY", "CERTIFICATE":
                throw CryptoError("the PEM is a public key; signing needs the private one")
            default: throw CryptoError("the PEM is not a PRIVATE KEY, RSA PRIVATE KEY or EC PRIVATE KEY")
            }
        var next = block.bytes.bytes
        let key =
            if let kind {
                d2i_PrivateKey(kind, nil, &next, block.bytes.count)
            } else {
                d2i_AutoPrivateKey(nil, &next, block.bytes.count)
            }
        guard let key else { throw CryptoError("the PEM's private key is invalid, or of an unknown kind") }
        return key
    }

    /// Whether a secret is really a public key, with which an attacker could sign as well.
    package static func isPublicKey(_ secret: Secret) -> Bool {
        secret.withUnsafeBytes { bytes in
            let marker = Array("-----BEGIN ".utf8)
            let prefixes = bytes.indices.contains { bytes[$0...].starts(with: marker) }
            if prefixes || bytes.starts(with: Array("ssh-".utf8)) || bytes.starts(with: Array("ecdsa-sha2-".utf8)) { return true }
            // Only a DER sequence can be a key.
            guard bytes.first == 0x30 else { return false }
            ERR_set_mark()
            defer { ERR_pop_to_mark() }
            let key = publicKey(der: bytes) ?? certifiedKey(bytes)
            defer { EVP_PKEY_free(key) }
            return key != nil
        }
    }

    private static func publicKey(der: UnsafeRawBufferPointer) -> OpaquePointer? {
        var next = der.bytes
        guard let key = d2i_PUBKEY(nil, &next, der.count) else { return nil }
        guard next == der.bytes.map({ $0 + der.count }) else {
            EVP_PKEY_free(key)
            return nil
        }
        return key
    }

    private static func certifiedKey(_ der: UnsafeRawBufferPointer) -> OpaquePointer? {
        var next = der.bytes
        guard let certificate = d2i_X509(nil, &next, der.count) else { return nil }
        defer { X509_free(certificate) }
        // All bits are set if the certificate doesn't restrict the use of its key.
        guard X509_get_key_usage(certificate) & UInt32(KU_DIGITAL_SIGNATURE) != 0 else { return nil }
        return X509_get_pubkey(certificate)
    }
}

/// The first block of a PEM, in libcrypto's memory, which is wiped on deinit.
package struct PEMBlock: ~Copyable {
    package let label: String
    /// Whether the block is encrypted as in RFC 1421 (`Proc-Type: 4,ENCRYPTED`).
    package let isEncrypted: Bool
    package let bytes: UnsafeRawBufferPointer

    /// - Returns: nil if there is no block. Skips the parameters of a curve, which `openssl ecparam` writes before a key.
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
        // Makes libcrypto wipe its buffers, because the block may be a private key.
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
