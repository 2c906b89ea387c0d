/// A storage of sealed values, with what its keeper needs: ``SQLiteStorage``, or PostgreSQL.
public protocol SealedStorage: SecretKeepingStorage, RenewalLockingStorage {
    /// The kind of key that it is sealed with, as ``StoreKeySource/kind`` says it.
    var keyKind: String { get }

    /// Under which something is stored, in the order of their UTF-8.
    func keys(withPrefix prefix: String) async throws -> [StorageKey]
    /// Reads all of it.
    func verify() async throws -> StoreVerification
    /// Seals every value anew under another data key, wrapped by `source`: all, or none.
    func rekey(_ source: any StoreKeySource) async throws
    /// Writes all values into a file of its own, sealed by `source`.
    ///
    /// - Returns: how many there are.
    @discardableResult
    func export(to path: String, key source: any StoreKeySource) async throws -> Int
    /// Takes over the values of such a file.
    ///
    /// - Returns: how many were taken, and how many stayed because there was one.
    func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool
    ) async throws -> (taken: Int, kept: Int)
}
