public import NevodStorage
internal import NevodSupport

extension PostgreSQLStorage {
    /// The keys that have a value, in the order of their UTF-8.
    public func keys(withPrefix prefix: String = "") async throws -> [StorageKey] {
        let schema = schema
        return try await pool.perform { (worker) throws(PostgreSQLError) in
            try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in
                var keys: [StorageKey] = []
                try connection.forEachPage(schema) { page in
                    keys += page.filter { $0.entry.sealed != nil && $0.key.rawValue.utf8.starts(with: prefix.utf8) }.map(\.key)
                }
                return keys
            }
        }
    }

    /// Reads the whole store as of one instant, and checks that each value opens for its key and version.
    public func verify() async throws -> StoreVerification {
        let (pool, schema, name) = (pool, schema, name)
        return try await keyring.withCurrentKey { opened in
            try await pool.perform { (worker) throws(PostgreSQLError) in
                try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in
                    try connection.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY") { () throws(PostgreSQLError) in
                        guard try connection.hasKey(opened, schema) else { return nil }
                        var found = StoreVerification()
                        try connection.forEachPage(schema) { page in
                            for (key, entry) in page { found.check(entry, of: key, in: name, opened) }
                        }
                        return found
                    }
                }
            }
        }
    }

    /// Exports all values to a store in one file, as `SQLiteStorage/export(to:key:)` does. The file is sealed with its own key.
    /// Use it as a backup, or to move the values elsewhere.
    ///
    /// - Parameters:
    ///   - path: A path that doesn't exist yet.
    ///   - source: The source of the file's key. A `Passphrase` can be used on another machine.
    /// - Returns: the number of values.
    @discardableResult
    public func export(to path: String, key source: any StoreKeySource) async throws -> Int {
        try await exportValues(of: try await keys(), to: path, key: source)
    }
}

extension PostgreSQLStorage {
    /// Gives the store a new data key, wrapped by `source`, and seals every value again: all of them, or none. Other processes
    /// continue to work if they were given this source too. Their writes wait meanwhile, for up to five minutes; their reads
    /// don't.
    ///
    /// Values sealed with the old key, and the wrapped old key itself, stay in the server's files until it has vacuumed them and
    /// reused the space. They stay in its log and backups until it discards those.
    ///
    /// - Throws: `StorageError`. If the connection was lost meanwhile, its remedy says which key the store opens with, or that
    ///   the server must be reached to find out. This object works with either key once the server is back.
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
    /// - Returns: nil if the store has neither the old nor the new key, because another process has set a third one.
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
                    "the connection was lost during the change of the store's key; whether it was changed is unknown: \(error)",
                remedy: "when the server is back, open it with \(source.description), or, if that fails, with its previous key"
            )
        }
        guard let found else { return nil }
        // No two sealed keys are equal, since each has its own nonce.
        if found.key.sealed == sealed.sealed { return () }
        guard found.number == opened.number else { return nil }
        throw StorageError(
            .unavailable, name, problem: "still has its old key: \(lost.problem)",
            remedy: "it opens with the old key; try again")
    }

    /// Waits until no change of the store's key is under way, and then reads the key: the change on the lost connection may still
    /// complete. The server aborts it after a minute of silence, and each wait for the lock lasts a third of that.
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

extension PostgreSQLStorage {
    /// Imports the values of an exported store of this type or of `SQLiteStorage`, which is only read. Imports all of them, or
    /// none after a failure. Writes of other processes wait meanwhile; reads don't.
    ///
    /// - Parameters:
    ///   - path: The file that ``export(to:key:)`` has written.
    ///   - source: The source of the file's key.
    ///   - replacing: Whether an imported value replaces an existing one.
    /// - Returns: the number of imported values, and the number of existing values that were kept.
    public func importValues(
        from path: String, key source: any StoreKeySource, replacing: Bool = false
    ) async throws -> (taken: Int, kept: Int) {
        let export = try await SQLiteExport(path, key: source)
        // Whatever the outcome, the cached values of these keys may be outdated.
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
                    problem: "the connection was lost during the import of \(path); either all of its values were imported, "
                        + "or none: \(error.error.problem)",
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
