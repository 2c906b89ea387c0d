public import NevodSupport

extension SQLiteStorage: VersionedStorage {
    /// Always reads the database.
    public func versionedSecret(for key: StorageKey) async throws -> (secret: Secret?, version: Int64) {
        let (connection, count) = (connection, count)
        noteUse(of: key)
        return try await withCurrentKey { (opened) throws(StorageError) -> (secret: Secret?, version: Int64)? in
            guard let (head, secret, version) = try SQLiteRegister.read(key, connection.database, opened) else { return nil }
            try count.check(head)
            return (secret, Int64(clamping: version))
        }
    }
}
