public import NevodStorage
internal import NevodSupport

extension PostgreSQLStorage {
    /// Imports the values of an exported store, of this type or of `SQLiteStorage`, which is only read: all of them, or none after a
    /// failure. Writes of other processes wait meanwhile; reads don't.
    ///
    /// - Parameters:
    ///   - path: The file that ``export(to:key:)`` has written.
    ///   - source: The source of the file's key.
    ///   - replacing: Whether an imported value replaces an existing one.
    /// - Returns: the number of imported values, and of existing ones that were kept.
    public func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool = false
    ) async throws -> (taken: Int, kept: Int) {
        let export = try await SQLiteExport(path, key: source)
        // The cached values of these keys may be outdated, whatever the outcome.
        let changed = Locked<[StorageKey]>([])
        defer {
            for key in changed.withLock(\.self) { dispatcher.cache.withLock { $0.drop(key) } }
        }
        return try await keyring.withCurrentKey { opened in
            do throws(PostgreSQLError) {
                return try await self.pool.withWorker { (worker) throws(PostgreSQLError) in
                    try await worker.run { (connection, _) throws(PostgreSQLError) in
                        try connection.transaction { () throws(PostgreSQLError) in
                            try self.importAll(export, replacing, opened, connection) { keys in changed.withLock { $0 += keys } }
                        }
                    }
                }
            } catch {
                guard error.isConnectionLost else { throw error.error }
                throw StorageError(
                    .unavailable, self.name,
                    problem: "the connection was lost while \(path) was imported; all of its values were, or none: "
                        + error.error.problem,
                    remedy: "import it again when the server is back")
            }
        }
    }

    /// - Parameter willWrite: Called with keys before their values are sent.
    /// - Returns: nil if the store has another key.
    private func importAll(
        _ export: SQLiteExport, _ replacing: Bool, _ opened: OpenedKey, _ connection: PostgreSQLConnection,
        willWrite: ([StorageKey]) -> Void
    ) throws(PostgreSQLError) -> (taken: Int, kept: Int)? {
        try connection.lockEntries(schema)
        guard try connection.hasKey(opened, schema) else { return nil }
        var (taken, kept) = (0, 0)
        var last: StorageKey?
        while case let values = try next(export, last), !values.isEmpty {
            let present = try connection.entries(of: values.map(\.key), schema)
            var writes: [PostgreSQLWrite] = []
            for (key, secret) in values {
                do throws(StorageError) {
                    try check(key)
                    try check(secret, key)
                    let entry = present[key]?.sealed ?? SealedEntry()
                    if !replacing, try opened.open(entry, key, in: name) != nil {
                        kept += 1
                        continue
                    }
                    let version = try SealedEntry(version: entry.version).nextVersion(of: key, in: name)
                    writes.append(
                        PostgreSQLWrite(
                            key: key, version: version, sealed: opened.seal(secret, key, version), store: opened.store,
                            keyNumber: opened.number, channel: channel))
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
