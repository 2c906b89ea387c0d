public import NevodStorage

extension PostgreSQLStorage {
    /// Under which something is stored, in the order of their UTF-8.
    public func keys(withPrefix prefix: String = "") async throws -> [StorageKey] {
        let schema = schema
        return try await pool.storage { (lane) throws(PostgreSQLError) in
            try await lane.runAgain { (connection, _) throws(PostgreSQLError) in
                var keys: [StorageKey] = []
                try connection.forEachPage(schema) { page in
                    keys += page.filter { $0.entry.sealed != nil && $0.key.rawValue.utf8.starts(with: prefix.utf8) }.map(\.key)
                }
                return keys
            }
        }
    }

    /// Reads all of the store as it is at one instant: whether each value opens for its key and version.
    public func verify() async throws -> StoreVerification {
        let (pool, schema, name) = (pool, schema, name)
        return try await keyring.withCurrentKey { opened in
            try await pool.storage { (lane) throws(PostgreSQLError) in
                try await lane.runAgain { (connection, _) throws(PostgreSQLError) in
                    try connection.transaction("ISOLATION LEVEL REPEATABLE READ READ ONLY") { () throws(PostgreSQLError) in
                        guard try connection.sealedKey(schema)?.number == opened.number else { return nil }
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

    /// Writes all values into a store of one file, as `SQLiteStorage/export(to:key:)` does, sealed with a key of its own: for a
    /// backup, or another place.
    ///
    /// - Parameters:
    ///   - path: where there is nothing yet.
    ///   - source: a `Passphrase` is what can be carried to another machine.
    /// - Returns: how many values there are.
    @discardableResult
    public func export(to path: String, key source: any StoreKeySource) async throws -> Int {
        try await exportValues(of: try await keys(), to: path, key: source)
    }
}
