/// A storage of sealed values, with operations for its maintenance: ``SQLiteStorage``, or one in PostgreSQL.
public protocol SealedStorage: SecretKeepingStorage, RenewalLockingStorage {
    /// The kind of the key that seals the store: ``StoreKeySource/kind``.
    var keyKind: String { get }

    /// The keys that have a value, in the order of their UTF-8.
    func keys(withPrefix prefix: String) async throws -> [StorageKey]
    /// Reads and checks the whole store.
    func verify() async throws -> StoreVerification
    /// Seals every value again under a new data key, wrapped by `source`: all of them, or none.
    func rekey(_ source: any StoreKeySource) async throws
    /// Exports all values to a file, sealed by `source`.
    ///
    /// - Returns: the number of values.
    @discardableResult
    func export(to path: String, key source: any StoreKeySource) async throws -> Int
    /// Imports the values of an exported file.
    ///
    /// - Returns: the number of imported values, and of existing ones that were kept.
    func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool
    ) async throws -> (taken: Int, kept: Int)
}
