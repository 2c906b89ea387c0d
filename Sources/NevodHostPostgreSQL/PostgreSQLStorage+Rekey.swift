public import NevodStorage

extension PostgreSQLStorage {
    /// Gives the store a new data key, wrapped by `source`, and seals every value again: all, or none. Other processes continue to
    /// work if they were given this source as well; their writes wait meanwhile, for up to five minutes, and their reads don't.
    ///
    /// Values sealed with the old key, and the wrapped old key itself, stay in the server's files until it has vacuumed them and
    /// reused the space, and in its log and backups for as long as it keeps those.
    ///
    /// - Throws: `StorageError`. If the connection was lost meanwhile, its remedy says which key the store opens with, or that this is
    ///   unknown because the server can't be reached. This object works with either key once the server is back.
    public func rekey(_ source: any StoreKeySource) async throws {
        try await keyring.withCurrentKey { opened -> Void? in
            let (sealed, next) = try await self.keyring.successor(of: opened, wrappedBy: source)
            let isDone: Void?
            do throws(PostgreSQLError) {
                isDone = try await self.replace(opened, with: next, sealed)
            } catch {
                guard error.isConnectionLost else { throw error.error }
                isDone = try await self.confirm(error.error, opened, sealed, source)
            }
            if isDone != nil { self.keyring.adopt(next, of: source) }
            return isDone
        }
    }

    /// - Returns: nil if the store has another key.
    private func replace(
        _ opened: OpenedKey, with next: OpenedKey, _ sealed: SealedKey
    ) async throws(PostgreSQLError) -> Void? {
        let (schema, name) = (schema, name)
        return try await pool.withWorker { (worker) throws(PostgreSQLError) in
            try await worker.run { (connection, _) throws(PostgreSQLError) in
                try connection.transaction { () throws(PostgreSQLError) -> Void? in
                    try connection.lockEntries(schema)
                    guard try connection.hasKey(opened, schema) else { return nil }
                    try connection.reseal(schema) { (key, entry) throws(StorageError) in
                        try opened.open(entry, key, in: name).map { next.seal($0, key, entry.version) }
                    }
                    try connection.replace(sealed, number: next.number, schema)
                    return ()
                }
            }
        }
    }

    /// Finds out whether the key was changed, after the connection was lost before the response.
    ///
    /// - Parameters:
    ///   - lost: How the connection was lost.
    ///   - sealed: The new key.
    /// - Returns: nil if the store has a third key, set by another process.
    private func confirm(
        _ lost: StorageError, _ opened: OpenedKey, _ sealed: SealedKey, _ source: any StoreKeySource
    ) async throws(StorageError) -> Void? {
        let found: (key: SealedKey, number: Int64)?
        do throws(StorageError) {
            found = try await confirmedKey()
        } catch {
            keyring.expect(source)
            throw StorageError(
                .unavailable, name,
                problem:
                    "the connection was lost while the store's key was changed, and whether it was is unknown: \(error)",
                remedy: "when the server is back, open it with \(source.description), or, if it doesn't open, with the key it had"
            )
        }
        guard let found else { return nil }
        // No two are equal, since each is sealed with its own nonce.
        if found.key.sealed == sealed.sealed { return () }
        guard found.number == opened.number else { return nil }
        throw StorageError(
            .unavailable, name, problem: "still has its old key: \(lost.problem)",
            remedy: "it opens with the old key; try again")
    }

    /// Reads the store's key once no change of it is under way: the one on the lost connection may still complete. The server aborts
    /// it after a minute of silence, and each wait for the lock lasts a third of that.
    private func confirmedKey() async throws(StorageError) -> (key: SealedKey, number: Int64)? {
        let schema = schema
        var last: PostgreSQLError?
        for _ in 0..<4 {
            do throws(PostgreSQLError) {
                return try await pool.withWorker { (worker) throws(PostgreSQLError) in
                    try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in
                        try connection.transaction { () throws(PostgreSQLError) in
                            try connection.lockEntries(schema)
                            return try connection.sealedKey(schema)
                        }
                    }
                }
            } catch {
                last = error
                guard error.isLockTimeout else { throw error.error }
            }
        }
        throw last?.error ?? StorageError(.busy, name, problem: "is locked")
    }
}
