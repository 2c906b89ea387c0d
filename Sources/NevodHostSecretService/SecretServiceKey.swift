internal import Glibc
public import NevodStorage
public import NevodSupport

/// The key of a sealed store, in the desktop's keyring: made, of random bytes, with the store. Whoever unlocks the keyring, by logging in
/// to the desktop, opens the store. (``SecretServiceStorage``, in contrast, keeps every value there.)
///
/// ```swift
/// let storage = try await SQLiteStorage(path: path, keys: [SecretServiceKey(), KeyFile(path: keyPath)])
/// ```
public struct SecretServiceKey: StoreKeySource {
    private static let size = 32

    /// In the keyring that is there when a key is needed.
    public init() {}

    /// `secret-service`.
    public var kind: String { "secret-service" }
    /// For people.
    public var description: String { "the desktop's keyring (Secret Service)" }

    /// Whether there is a keyring that is not locked. Answers within three seconds.
    public func isAvailable() async -> Bool {
        await SecretServiceStorage.isAvailable()
    }

    /// What the keyring holds for the store and the salt, 64 hexadecimal digits. A store that is given another key has an item more;
    /// the old one stays, for copies of the store from before.
    ///
    /// - Throws: `StorageError` if the keyring can't be asked, is locked, or holds no key of a store that has one.
    public func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret {
        // The salt tells the keys of a store apart. It is random for each that is made, so that no two processes make the same.
        let attributes = try ServiceAttributes(
            schema: "dev.nevod.StoreKey", [("store", store.description), ("salt", Hexadecimal.text(salt))])
        return try await ServiceClient.shared.run { (session, call) throws(SecretServiceError) in
            if let key = try Self.key(store, attributes, session, call) { return key }
            guard isNew else {
                throw .final(
                    StorageError(
                        .unavailable, "the keyring", problem: "holds no key of the store \(store)",
                        remedy: "put the keyring back from a backup, or log in as the user who made the store"))
            }
            try session.set(Self.newKey(), attributes, label: "Key of the store \(store)", call)
            // What is there from now on.
            guard let key = try Self.key(store, attributes, session, call) else { throw .withoutSecret }
            return key
        }
    }

    private static func key(
        _ store: StoreIdentifier, _ attributes: ServiceAttributes, _ session: ServiceSession, _ call: ServiceObject
    ) throws(SecretServiceError) -> Secret? {
        guard let text = try session.secret(of: attributes, call) else { return nil }
        guard let key = text.withUnsafeBytes({ Hexadecimal.secret($0) }), key.count == size else {
            throw .final(
                StorageError(
                    .damaged, "the keyring", problem: "holds no key for the store \(store), but something else",
                    remedy: "put the keyring back from a backup"))
        }
        return key
    }

    private static func newKey() -> Secret {
        let key = Secret(count: size) { bytes in
            let failure = bytes.baseAddress.map { getentropy($0, size) }
            precondition(failure == 0, "the system has no random numbers")
        }
        return Hexadecimal.digits(of: key)
    }
}
