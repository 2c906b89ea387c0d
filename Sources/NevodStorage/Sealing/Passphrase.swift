internal import COpenSSL
public import NevodSupport

/// A key derived from a passphrase by scrypt (RFC 7914) with N = 2¹⁷, r = 8 and p = 1. That takes 128 MiB of memory and about a
/// third of a second: once for the store, and again for each guess of an attacker.
public struct Passphrase: StoreKeySource {
    private let passphrase: @Sendable (_ isNew: Bool) async throws -> Secret?

    /// - Parameter passphrase: Called when the passphrase is needed, and told whether it is a new one. Returns nil if nobody can
    ///   be asked for it.
    public init(_ passphrase: @escaping @Sendable (_ isNew: Bool) async throws -> Secret?) {
        self.passphrase = passphrase
    }

    public var kind: String { "passphrase" }
    public var description: String { "a passphrase" }

    public func isAvailable() async -> Bool { true }

    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        guard let passphrase = try await passphrase(isNew), !passphrase.isEmpty else {
            throw StorageError(
                .unavailable, "the store", problem: "is sealed with a passphrase, but none was given",
                remedy: "run it where the passphrase can be entered")
        }
        return try Scrypt().key(of: passphrase, salt: salt)
    }
}

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
