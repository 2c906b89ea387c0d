public import NevodStorage

extension PostgreSQLStorage {
    /// Gives the store another data key, wrapped by `source`, and seals every value anew: all, or none. Other processes that use
    /// the store go on if they were given this source as well; their writes wait meanwhile, for up to five minutes, their reads don't.
    ///
    /// What was sealed with the old key, and the old key itself in its wrapping, stay in the server's files until it has vacuumed
    /// them and used their place again, and in its log and backups for as long as it keeps those.
    ///
    /// - Throws: `StorageError`. Its remedy says which key the store opens with, if the connection was lost meanwhile; or that this
    ///   isn't known, since the server can't be reached any more. This object goes on with either when it is back.
    public func rekey(_ source: any StoreKeySource) async throws {
        try await keyring.withCurrentKey { opened -> Void? in
            let (sealed, next) = try await self.keyring.successor(of: opened, wrappedBy: source)
            let isDone: Void?
            do throws(PostgreSQLError) {
                isDone = try await self.replace(opened, with: next, sealed)
            } catch {
                guard error.isLost else { throw error.error }
                isDone = try await self.settle(error.error, opened, sealed, source)
            }
            if isDone != nil { self.keyring.adopt(next, of: source) }
            return isDone
        }
    }

    /// - Returns: nil: the store has another key.
    private func replace(
        _ opened: OpenedKey, with next: OpenedKey, _ sealed: SealedKey
    ) async throws(PostgreSQLError) -> Void? {
        let (schema, name) = (schema, name)
        return try await pool.withLane { (lane) throws(PostgreSQLError) in
            try await lane.run { (connection, _) throws(PostgreSQLError) in
                try connection.transaction { () throws(PostgreSQLError) -> Void? in
                    try connection.lockEntries(schema)
                    guard try connection.sealedKey(schema)?.number == opened.number else { return nil }
                    try connection.sealAnew(schema) { (key, entry) throws(StorageError) in
                        try opened.open(entry, key, in: name).map { next.seal($0, key, entry.version) }
                    }
                    try connection.replace(sealed, number: next.number, schema)
                    return ()
                }
            }
        }
    }

    /// What became of a change of the key whose connection was lost before the answer came.
    ///
    /// - Parameters:
    ///   - lost: how the connection was lost.
    ///   - sealed: the key that the store was to have.
    /// - Returns: nil: the store has a third key, another process's.
    private func settle(
        _ lost: StorageError, _ opened: OpenedKey, _ sealed: SealedKey, _ source: any StoreKeySource
    ) async throws(StorageError) -> Void? {
        let found: (key: SealedKey, number: Int64)?
        do throws(StorageError) {
            found = try await settledKey()
        } catch {
            keyring.expect(source)
            throw StorageError(
                .unavailable, name,
                problem:
                    "the connection was lost while the store was given another key, which may have happened or not: \(error)",
                remedy: "when the server is back, open it with \(source.description), or, if it doesn't open, with the key it had"
            )
        }
        guard let found else { return nil }
        // No two are the same: each is sealed with a nonce of its own.
        if found.key.sealed == sealed.sealed { return () }
        guard found.number == opened.number else { return nil }
        throw StorageError(
            .unavailable, name, problem: "has not been given another key: \(lost.problem)",
            remedy: "it opens with the key that it had; try once more")
    }

    /// The store's key, once no change of it is under way: that on the connection that was lost may still come to its end. The server
    /// ends it when it has heard nothing for a minute, and a lock is waited for a third of that.
    private func settledKey() async throws(StorageError) -> (key: SealedKey, number: Int64)? {
        let schema = schema
        var last: PostgreSQLError?
        for _ in 0..<4 {
            do throws(PostgreSQLError) {
                return try await pool.withLane { (lane) throws(PostgreSQLError) in
                    try await lane.runAgain { (connection, _) throws(PostgreSQLError) in
                        try connection.transaction { () throws(PostgreSQLError) in
                            try connection.lockEntries(schema)
                            return try connection.sealedKey(schema)
                        }
                    }
                }
            } catch {
                last = error
                guard error.isOfLock else { throw error.error }
            }
        }
        throw last?.error ?? StorageError(.busy, name, problem: "is locked")
    }
}
