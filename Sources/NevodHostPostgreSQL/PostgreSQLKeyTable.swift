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

extension PostgreSQLConnection {
    /// - Returns: nil if the store is new.
    func sealedKey(_ schema: PostgreSQLSchema) throws(PostgreSQLError) -> (SealedKey, number: Int64)? {
        let rows = try run(
            """
            SELECT id, key_number, key_kind, key_salt, key_sealed, true FROM \(schema.name).store
            UNION ALL SELECT ''::bytea, 0, '', ''::bytea, ''::bytea, false FROM (
                SELECT FROM \(schema.name).entry WHERE version > 0 LIMIT 1) AS used
            WHERE NOT EXISTS (SELECT FROM \(schema.name).store)
            """)
        guard rows.count > 0 else { return nil }
        guard rows.integer(0, 5) == 1 else { throw damage(schema, "has values, and has lost its key") }
        guard let store = StoreIdentifier(rows.bytes(0, 0)) else { throw damage(schema, "has no valid identifier") }
        let key = SealedKey(store: store, kind: rows.text(0, 2), salt: rows.bytes(0, 3), sealed: rows.bytes(0, 4))
        return (key, rows.integer(0, 1))
    }

    private func damage(_ schema: PostgreSQLSchema, _ problem: String) -> PostgreSQLError {
        PostgreSQLError(
            error: StorageError(
                .damaged, "\(name), schema \(schema.name)", problem: problem, remedy: "restore it from a backup"))
    }

    /// - Returns: whether the store still has this key.
    /// - Throws: a damage error if the schema has another store now.
    func hasKey(_ opened: OpenedKey, _ schema: PostgreSQLSchema) throws(PostgreSQLError) -> Bool {
        guard let (key, number) = try sealedKey(schema) else { return false }
        guard key.store == opened.store else {
            throw PostgreSQLError(error: .isReplaced("\(name), schema \(schema.name)"))
        }
        return number == opened.number
    }

    /// Reads numbers that change if the store, its tables or its key is replaced.
    func fingerprint(of store: StoreIdentifier, _ schema: PostgreSQLSchema) throws(PostgreSQLError) -> [Int64]? {
        let rows = try run(
            """
            SELECT key_number, to_regclass('\(schema.name).entry')::oid::int8,
                pg_relation_filenode(to_regclass('\(schema.name).entry'))::int8
            FROM \(schema.name).store WHERE id = $1::bytea
            """, [.bytes(store.bytes)])
        guard rows.count > 0 else { return nil }
        return (0..<3).map { rows.integer(0, $0) }
    }

    /// Saves the store's first key. Has no effect if the store has one, or has values.
    func addFirst(_ key: SealedKey, _ schema: PostgreSQLSchema) throws(PostgreSQLError) {
        try run(
            """
            INSERT INTO \(schema.name).store (id, key_number, key_kind, key_salt, key_sealed)
            SELECT $1::bytea, 1, $2::text, $3::bytea, $4::bytea
            WHERE NOT EXISTS (SELECT FROM \(schema.name).entry WHERE version > 0) ON CONFLICT DO NOTHING
            """, [.bytes(key.store.bytes), .text(key.kind), .bytes(key.salt), .bytes(key.sealed)])
    }

    func replace(_ key: SealedKey, number: Int64, _ schema: PostgreSQLSchema) throws(PostgreSQLError) {
        try run(
            """
            UPDATE \(schema.name).store
            SET key_number = $1::int8, key_kind = $2::text, key_salt = $3::bytea, key_sealed = $4::bytea
            """, [.integer(number), .text(key.kind), .bytes(key.salt), .bytes(key.sealed)])
    }
}
