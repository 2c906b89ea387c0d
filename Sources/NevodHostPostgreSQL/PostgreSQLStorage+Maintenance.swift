public import NevodStorage

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

    /// Exports all values to a store in one file, as `SQLiteStorage/export(to:key:)` does, sealed with its own key: for a backup, or
    /// to move them elsewhere.
    ///
    /// - Parameters:
    ///   - path: A path that doesn't exist yet.
    ///   - source: The source of the file's key; a `Passphrase` can be used on another machine.
    /// - Returns: the number of values.
    @discardableResult
    public func export(to path: String, key source: any StoreKeySource) async throws -> Int {
        try await exportValues(of: try await keys(), to: path, key: source)
    }
}
