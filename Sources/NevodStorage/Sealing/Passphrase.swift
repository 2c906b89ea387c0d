internal import COpenSSL
public import NevodSupport

/// A key that is derived from a passphrase by scrypt (RFC 7914) with N = 2¹⁷, r = 8 and p = 1: 128 MiB of memory and about a third
/// of a second, for us once and for whoever guesses each time.
public struct Passphrase: StoreKeySource {
    private let passphrase: @Sendable (_ isNew: Bool) async throws -> Secret?

    /// - Parameter passphrase: asked for when it is needed; told whether it is a new one. Nil: there is nobody to ask.
    public init(_ passphrase: @escaping @Sendable (_ isNew: Bool) async throws -> Secret?) {
        self.passphrase = passphrase
    }

    public var kind: String { "passphrase" }
    public var description: String { "a passphrase" }

    public func isAvailable() async -> Bool { true }

    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        guard let passphrase = try await passphrase(isNew), !passphrase.isEmpty else {
            throw StorageError(
                .unavailable, "the store", problem: "is sealed with a passphrase, and there is none",
                remedy: "run it where it can be asked for")
        }
        return try Scrypt().key(of: passphrase, salt: salt)
    }
}

/// Key derivation that costs memory (RFC 7914).
struct Scrypt {
    /// A power of two.
    var cost: UInt64 = 1 << 17
    var blockSize: UInt64 = 8
    var parallelism: UInt64 = 1

    /// - Parameter count: of the key, in bytes.
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
