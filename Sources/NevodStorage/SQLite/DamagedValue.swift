internal import NevodSupport

/// Decides whether a row's value can be trusted. If not, says what is wrong: it doesn't open with the store's key, is missing, or
/// was put back by something else.
extension SQLiteRegister {
    /// - Parameter version: The version in the register; nil if no value is listed.
    /// - Throws: `damaged` unless the row is the one that the register lists.
    func open(_ row: Row?, _ key: StorageKey, version: UInt64?) throws(StorageError) -> Secret? {
        guard let version else {
            guard row == nil else { throw Self.putBack(key, database.path) }
            return nil
        }
        guard let row else {
            throw StorageError(
                .damaged, database.path,
                problem: "the value of \(key) is missing: its row was removed, or moved to another key",
                remedy: "log in again, or \(StorageError.restoring)")
        }
        guard let secret = opened.open(row.sealed, registered: key, version), UInt64(exactly: row.version) == version else {
            let isOlder = UInt64(exactly: row.version).map { opened.open(row.sealed, registered: key, $0) != nil } ?? false
            throw isOlder ? Self.putBack(key, database.path) : OpenedKey.unopened(key, in: database.path)
        }
        return secret
    }

    private static func putBack(_ key: StorageKey, _ path: String) -> StorageError {
        StorageError(
            .damaged, path, problem: "the value of \(key) was removed or replaced, and has been put back by something else",
            remedy: "log in again, or remove the session")
    }

    static func missing(_ path: String) -> StorageError {
        StorageError(
            .damaged, path, problem: "values are missing: their rows were removed by something else",
            remedy: StorageError.restoring)
    }

    static func damage(_ path: String) -> StorageError {
        StorageError(
            .damaged, path, problem: "the register of its values is missing, or was changed", remedy: StorageError.restoring)
    }
}
