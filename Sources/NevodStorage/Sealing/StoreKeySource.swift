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

    /// The highest count of the store's changes that was kept beside its key, to notice that an older copy of the store was put in its
    /// place; nil if there is none. By default none is kept.
    ///
    /// - Parameters:
    ///   - store: As for the key.
    ///   - salt: As for the key. A store that is given a new key is accepted as it is, so its counts begin anew.
    func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64?

    /// Keeps a count beside the key, unless a higher one is there. Called after each change of an ``SQLiteStorage``; a count that can't be
    /// kept is no error, since the change has been made. By default none is kept.
    ///
    /// - Parameters:
    ///   - count: The number of changes that were ever made to the store.
    ///   - store: As for the key.
    ///   - salt: As for the key.
    ///   - hasRemoved: Whether a value was removed. A source for which this takes long may keep these counts alone.
    func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async
}

extension StoreKeySource {
    public func count(of store: StoreIdentifier, salt: [UInt8]) async -> UInt64? { nil }
    public func keep(_ count: UInt64, of store: StoreIdentifier, salt: [UInt8], hasRemoved: Bool) async {}
}
