public import NevodStorage
internal import NevodSupport

extension PostgreSQLStorage {
    /// Takes over the values of an exported store, be it this kind's or a `SQLiteStorage`'s, which is only read: all, or, after a
    /// failure, none. Other processes' writes wait meanwhile, their reads don't.
    ///
    /// - Parameters:
    ///   - path: of the file that ``export(to:key:)`` has written.
    ///   - source: of its key.
    ///   - replacing: whether a value takes the place of one that is there.
    /// - Returns: how many were taken, and how many stayed because there was one.
    public func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool = false
    ) async throws -> (taken: Int, kept: Int) {
        let export = try await SQLiteExport(path, key: source)
        // Whatever becomes of it, what is remembered of these may be old.
        let changed = Locked<[StorageKey]>([])
        defer {
            for key in changed.withLock(\.self) { hub.cache.withLock { $0.drop(key) } }
        }
        return try await keyring.withCurrentKey { opened in
            do throws(PostgreSQLError) {
                return try await self.pool.withLane { (lane) throws(PostgreSQLError) in
                    try await lane.run { (connection, _) throws(PostgreSQLError) in
                        try connection.transaction { () throws(PostgreSQLError) in
                            try self.take(export, replacing, opened, connection) { keys in changed.withLock { $0 += keys } }
                        }
                    }
                }
            } catch {
                guard error.isLost else { throw error.error }
                throw StorageError(
                    .unavailable, self.name,
                    problem: "the connection was lost while \(path) was taken over, all of which may have happened or nothing: "
                        + error.error.problem,
                    remedy: "take it over once more when the server is back")
            }
        }
    }

    /// - Parameter willWrite: called with keys before their values are sent.
    /// - Returns: nil: the store has another key.
    private func take(
        _ export: SQLiteExport, _ replacing: Bool, _ opened: OpenedKey, _ connection: PostgreSQLConnection,
        willWrite: ([StorageKey]) -> Void
    ) throws(PostgreSQLError) -> (taken: Int, kept: Int)? {
        try connection.lockEntries(schema)
        guard try connection.sealedKey(schema)?.number == opened.number else { return nil }
        var (taken, kept) = (0, 0)
        var last: StorageKey?
        while case let values = try next(export, last), !values.isEmpty {
            let present = try connection.entries(of: values.map(\.key), schema)
            var writes: [PostgreSQLWrite] = []
            for (key, secret) in values {
                do throws(StorageError) {
                    try check(key)
                    try check(secret, key)
                    let entry = present[key] ?? SealedEntry()
                    if !replacing, try opened.open(entry, key, in: name) != nil {
                        kept += 1
                        continue
                    }
                    let version = entry.version + 1
                    writes.append(
                        PostgreSQLWrite(
                            key: key, version: version, sealed: opened.seal(secret, key, version), keyNumber: opened.number,
                            channel: channel))
                } catch {
                    throw PostgreSQLError(error: error)
                }
            }
            willWrite(writes.map(\.key))
            try connection.overwrite(writes, schema, channel)
            taken += writes.count
            last = values.last?.key
        }
        return (taken, kept)
    }

    private func next(
        _ export: SQLiteExport, _ last: StorageKey?
    ) throws(PostgreSQLError) -> [(key: StorageKey, secret: Secret)] {
        do throws(StorageError) {
            return try export.values(after: last)
        } catch {
            throw PostgreSQLError(error: error)
        }
    }
}
