public import NevodSupport

extension SQLiteStorage: VersionedStorage {
    /// Always reads the database.
    public func versionedSecret(for key: StorageKey) async throws -> (secret: Secret?, version: Int64) {
        // Checks an absent value for damage.
        _ = try await secret(for: key)
        let connection = connection
        return try await withCurrentKey { (opened) throws(StorageError) -> (secret: Secret?, version: Int64)? in
            let entry = try connection.database.entry(for: key)
            guard entry.keyNumber == opened.number else { return nil }
            return (try opened.open(entry, key, in: self.path), entry.version)
        }
    }
}
