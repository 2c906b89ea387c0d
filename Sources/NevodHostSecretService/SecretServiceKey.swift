public import NevodStorage
public import NevodSupport

/// Keeps the key of a sealed store in the desktop's keyring. The key is created from random bytes together with the store. The
/// store opens while the keyring is unlocked, usually by logging in to the desktop. (``SecretServiceStorage``, in contrast, keeps
/// every value there.)
///
/// ```swift
/// let storage = try await SQLiteStorage(path: path, keys: [SecretServiceKey(), KeyFile(path: keyPath)])
/// ```
public struct SecretServiceKey: StoreKeySource {
    /// Uses the keyring that is the default when a key is needed.
    public init() {}

    /// `secret-service`.
    public var kind: String { "secret-service" }
    /// A description for people.
    public var description: String { "the desktop's keyring (Secret Service)" }

    /// Whether there is an unlocked keyring. Returns within three seconds.
    public func isAvailable() async -> Bool {
        await SecretServiceStorage.isAvailable()
    }

    /// Reads the keyring's item for the store and the salt, 64 hexadecimal digits. Each new key of a store gets a new item. The
    /// old item stays, for older copies of the store.
    ///
    /// - Throws: `StorageError` if the keyring can't be reached or is locked, or has no key of an existing store.
    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        // The salt distinguishes the keys of a store. Each salt is random, so that two processes never create the same item.
        let attributes = try ServiceAttributes(
            schema: "dev.nevod.StoreKey", [("store", store.description), ("salt", Hexadecimal.text(salt))])
        return try await ServiceClient.shared.run { (session, call) throws(SecretServiceError) in
            if let key = try Self.key(store, attributes, session, call) { return key }
            guard isNew else {
                throw .final(
                    StorageError(
                        .unavailable, "the keyring", problem: "holds no key of the store \(store)",
                        remedy: "restore the keyring from a backup, or log in as the user who created the store"))
            }
            try session.set(
                Hexadecimal.digits(of: SealingKey.random().bytes), attributes, label: "Key of the store \(store)", call)
            // Read back: another process may have stored a key at the same time.
            guard let key = try Self.key(store, attributes, session, call) else { throw .withoutSecret }
            return key
        }
    }

    private static func key(
        _ store: StoreIdentifier, _ attributes: ServiceAttributes, _ session: ServiceSession, _ call: ServiceObject
    ) throws(SecretServiceError) -> Secret? {
        guard let text = try session.secret(of: attributes, call) else { return nil }
        guard let key = text.withUnsafeBytes({ Hexadecimal.secret($0) }), key.count == SealingKey.size else {
            throw .final(
                StorageError(
                    .damaged, "the keyring", problem: "holds an invalid key for the store \(store)",
                    remedy: "restore the keyring from a backup"))
        }
        return key
    }

    // MARK: The count

    /// Reads the keyring's item for the count; nil if there is no item, or if the keyring can't be reached within three seconds.
    public func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64? {
        guard let attributes = try? Self.countAttributes(store, salt) else { return nil }
        let count = try? await ServiceClient.shared.run(within: .seconds(3)) { (session, call) throws(SecretServiceError) in
            try Self.count(attributes, session, call)
        }
        return count ?? nil
    }

    /// Keeps the count only when a value was removed, because a service writes its whole keyring each time.
    public func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async {
        guard hasRemoved, let attributes = try? Self.countAttributes(store, salt) else { return }
        try? await ServiceClient.shared.run(within: .seconds(3)) { (session, call) throws(SecretServiceError) in
            if let known = try Self.count(attributes, session, call), known >= count { return }
            try session.set(Secret("\(count)"), attributes, label: "Changes of the store \(store)", call)
        }
    }

    private static func countAttributes(_ store: StoreIdentifier, _ salt: [UInt8]) throws -> ServiceAttributes {
        try ServiceAttributes(
            schema: "dev.nevod.StoreCount", [("store", store.description), ("salt", Hexadecimal.text(salt))])
    }

    private static func count(
        _ attributes: ServiceAttributes, _ session: ServiceSession, _ call: ServiceObject
    ) throws(SecretServiceError) -> UInt64? {
        try session.secret(of: attributes, call).flatMap { text in
            text.withUnsafeBytes { UInt64(String(decoding: $0, as: UTF8.self)) }
        }
    }
}
