internal import COpenSSL
internal import NevodSupport

/// A memory-hard key derivation (RFC 7914).
struct Scrypt {
    /// A power of two.
    var cost: UInt64 = 1 << 17
    var blockSize: UInt64 = 8
    var parallelism: UInt64 = 1

    /// - Parameter count: The key's size in bytes.
    func key(of passphrase: Secret, salt: [UInt8], count: Int = SealingKey.size) throws(StorageError) -> Secret {
        try Secret(count: count) { (key) throws(StorageError) in
            let isDerived = passphrase.withUnsafeBytes { passphrase in
                EVP_PBE_scrypt(
                    passphrase.bindMemory(to: CChar.self).baseAddress, passphrase.count, salt, salt.count, cost, blockSize,
                    parallelism, 256 << 20, key.bindMemory(to: UInt8.self).baseAddress, key.count)
            }
            guard isDerived == 1 else {
                throw StorageError(.other, "scrypt", problem: "can't derive a key", remedy: "it needs 128 MiB of memory")
            }
        }
    }
}
