public import NevodSupport

/// The source of the key that wraps a sealed store's data key. A store records the kind of its source, and never opens with another
/// kind.
public protocol StoreKeySource: Sendable {
    /// The name of the kind, which the store records: `key-file` for ``KeyFile``. Lower-case letters, digits and hyphens.
    var kind: String { get }
    /// A description for people: `the key file /home/ada/.local/share/nevod-host/store.key`. Nothing secret.
    var description: String { get }

    /// Whether a new store could use this source now.
    func isAvailable() async -> Bool

    /// - Parameters:
    ///   - store: The store of the key; one source may have keys of several stores.
    ///   - salt: Random bytes of this store and this key.
    ///   - isNew: Whether the store is being created, or given a new key: only then may a source create one. A source that keeps
    ///     several keys creates one for each salt.
    /// - Returns: 32 bytes, the same each time.
    /// - Throws: ``StorageError``, naming the source and the remedy.
    func key(for store: StoreIdentifier, salt: [UInt8], isNew: Bool) async throws -> Secret
}
