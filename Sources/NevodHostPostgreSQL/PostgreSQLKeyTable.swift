internal import NevodStorage

/// The table that holds the store's wrapped key.
struct PostgreSQLKeyTable: SealedKeyKeeping {
    let pool: PostgreSQLPool
    let schema: PostgreSQLSchema

    func sealedKey() async throws(StorageError) -> (SealedKey, number: Int64)? {
        let schema = schema
        return try await pool.perform { (worker) throws(PostgreSQLError) in
            try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in try connection.sealedKey(schema) }
        }
    }

    func addFirst(_ key: SealedKey) async throws(StorageError) {
        let schema = schema
        try await pool.perform { (worker) throws(PostgreSQLError) in
            try await worker.runRetrying { (connection, _) throws(PostgreSQLError) in try connection.addFirst(key, schema) }
        }
    }
}
