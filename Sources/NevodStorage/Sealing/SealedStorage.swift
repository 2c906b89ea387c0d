internal import NevodSupport

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
    /// - Returns: the number of imported values, and the number of existing values that were kept.
    func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool
    ) async throws -> (taken: Int, kept: Int)
}

/// The result of reading and checking a whole store.
public struct StoreVerification: Sendable {
    /// The number of values that could be opened.
    public package(set) var values = 0
    /// The problems that were found, for people. Each names the key or the store.
    public package(set) var problems: [String] = []

    package init() {}

    /// Records damage as a problem, so that it doesn't stop the check. Other errors are thrown.
    package mutating func noteDamage(
        _ body: (inout StoreVerification) throws(StorageError) -> Void
    ) throws(StorageError) {
        do throws(StorageError) {
            try body(&self)
        } catch {
            guard error.code == .damaged else { throw error }
            problems.append(error.description)
        }
    }

    package mutating func check(_ entry: SealedEntry, of key: StorageKey, in store: String, _ opened: OpenedKey) {
        do throws(StorageError) {
            if try opened.open(entry, key, in: store) != nil { values += 1 }
        } catch {
            problems.append(error.description)
        }
    }

    mutating func note(_ result: Result<Secret?, StorageError>) {
        switch result {
        case .success(nil): break
        case .success: values += 1
        case .failure(let error): problems.append(error.description)
        }
    }
}
