public import NevodSupport

/// A key derived from a passphrase by scrypt (RFC 7914) with N = 2¹⁷, r = 8 and p = 1: it takes 128 MiB of memory and about a third
/// of a second, once for the store and again for each guess of an attacker.
public struct Passphrase: StoreKeySource {
    private let passphrase: @Sendable (_ isNew: Bool) async throws -> Secret?

    /// - Parameter passphrase: Called when the passphrase is needed, with whether it is a new one; returns nil if it can't be asked for.
    public init(_ passphrase: @escaping @Sendable (_ isNew: Bool) async throws -> Secret?) {
        self.passphrase = passphrase
    }

    public var kind: String { "passphrase" }
    public var description: String { "a passphrase" }

    public func isAvailable() async -> Bool { true }

    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        guard let passphrase = try await passphrase(isNew), !passphrase.isEmpty else {
            throw StorageError(
                .unavailable, "the store", problem: "is sealed with a passphrase, and none was given",
                remedy: "run it where it can be asked for")
        }
        return try Scrypt().key(of: passphrase, salt: salt)
    }
}
