internal import NevodStorage

/// An entry, and the store in which it was found.
struct PostgreSQLEntry: Sendable {
    var sealed = SealedEntry()
    /// Nil if the schema has no store.
    var store: StoreIdentifier?
}

extension PostgreSQLConnection {
    /// Reads entries in one round trip, as of one instant.
    ///
    /// - Returns: an empty dictionary if the store has no key.
    func entries(of keys: [StorageKey], _ schema: PostgreSQLSchema) throws(PostgreSQLError) -> [StorageKey: PostgreSQLEntry] {
        let rows = try run(
            """
            SELECT store.id, store.key_number, entry.key, entry.version, entry.sealed
            FROM \(schema.name).store LEFT JOIN \(schema.name).entry ON entry.key = ANY($1::bytea[])
            """, [.list(keys.map { Array($0.rawValue.utf8) })])
        guard rows.count > 0 else { return [:] }
        let store = StoreIdentifier(rows.bytes(0, 0))
        let nothing = SealedEntry(keyNumber: rows.integer(0, 1))
        var entries = Dictionary(keys.map { ($0, PostgreSQLEntry(sealed: nothing, store: store)) }) { first, _ in first }
        for row in 0..<rows.count where !rows.isNull(row, 2) {
            entries[StorageKey(rawValue: rows.text(row, 2))] = PostgreSQLEntry(
                sealed: SealedEntry(
                    version: rows.integer(row, 3), sealed: rows.isNull(row, 4) ? nil : rows.bytes(row, 4),
                    keyNumber: nothing.keyNumber), store: store)
        }
        return entries
    }

    /// Writes the next version of an entry and notifies all listeners, in one statement: both happen, or neither.
    ///
    /// - Returns: false if the stored version is not the previous one, the store has another key, or the value was obtained under
    ///   a renewal lock that another process has taken over.
    func save(_ write: PostgreSQLWrite, _ schema: PostgreSQLSchema) throws(PostgreSQLError) -> Bool {
        // A change of the store's key locks the table. This statement reads rows only after it has its own lock on the table, so
        // it sees the new key number.
        try run(
            """
            WITH changed AS (
                INSERT INTO \(schema.name).entry AS entry (key, version, sealed)
                SELECT $1::bytea, $2::int8, $3::bytea FROM \(schema.name).store WHERE key_number = $4::int8 AND id = $7::bytea
                ON CONFLICT (key) DO UPDATE SET version = excluded.version, sealed = excluded.sealed
                WHERE entry.version = excluded.version - 1 AND entry.fence <= $8::int8
                RETURNING 1)
            SELECT pg_notify($5::text, $6::text) FROM changed
            """,
            [
                .bytes(Array(write.key.rawValue.utf8)), .integer(write.version),
                write.sealed.map(PostgreSQLValue.bytes) ?? .null, .integer(write.keyNumber), .text(write.channel),
                .text(PostgreSQLNotification.changed(write.key, version: write.version).payload), .bytes(write.store.bytes),
                .integer(write.fence ?? .max),
            ]
        ).count > 0
    }

    /// Writes entries over whatever is stored, and notifies all listeners. Requires ``lockEntries(_:)``.
    func overwrite(_ writes: [PostgreSQLWrite], _ schema: PostgreSQLSchema, _ channel: String) throws(PostgreSQLError) {
        try run(
            """
            INSERT INTO \(schema.name).entry (key, version, sealed)
            SELECT * FROM unnest($1::bytea[], $2::int8[], $3::bytea[])
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, sealed = excluded.sealed
            """,
            [
                .list(writes.map { Array($0.key.rawValue.utf8) }), .integers(writes.map(\.version)),
                .list(writes.map { $0.sealed ?? [] }),
            ])
        try run(
            "SELECT pg_notify($1::text, convert_from(payload, 'UTF8')) FROM unnest($2::bytea[]) AS payload",
            [
                .text(channel),
                .list(writes.map { Array(PostgreSQLNotification.changed($0.key, version: $0.version).payload.utf8) }),
            ])
    }

    /// Reads all entries in the order of their keys, in pages of 500. The body may change them.
    func forEachPage(
        _ schema: PostgreSQLSchema, _ body: ([(key: StorageKey, entry: SealedEntry)]) throws(PostgreSQLError) -> Void
    ) throws(PostgreSQLError) {
        var last: [UInt8]?
        while true {
            let rows = try run(
                """
                SELECT key, version, sealed FROM \(schema.name).entry
                \(last == nil ? "" : "WHERE key > $1::bytea") ORDER BY key LIMIT 500
                """, last.map { [.bytes($0)] } ?? [])
            guard rows.count > 0 else { return }
            try body(
                (0..<rows.count).map { row in
                    (
                        StorageKey(rawValue: rows.text(row, 0)),
                        SealedEntry(version: rows.integer(row, 1), sealed: rows.isNull(row, 2) ? nil : rows.bytes(row, 2))
                    )
                })
            last = rows.bytes(rows.count - 1, 0)
        }
    }

    /// Blocks all other writers until the transaction ends, but no readers.
    func lockEntries(_ schema: PostgreSQLSchema) throws(PostgreSQLError) {
        try execute("LOCK TABLE \(schema.name).entry IN EXCLUSIVE MODE")
    }

    /// Seals every value again, under the same version. Requires ``lockEntries(_:)``.
    func reseal(
        _ schema: PostgreSQLSchema, _ seal: (StorageKey, SealedEntry) throws(StorageError) -> [UInt8]?
    ) throws(PostgreSQLError) {
        try forEachPage(schema) { (page) throws(PostgreSQLError) in
            var (keys, values): ([[UInt8]], [[UInt8]]) = ([], [])
            for (key, entry) in page {
                let sealed: [UInt8]?
                do throws(StorageError) { sealed = try seal(key, entry) } catch { throw PostgreSQLError(error: error) }
                guard let sealed else { continue }
                keys.append(Array(key.rawValue.utf8))
                values.append(sealed)
            }
            try run(
                """
                UPDATE \(schema.name).entry SET sealed = new.sealed
                FROM unnest($1::bytea[], $2::bytea[]) AS new (key, sealed) WHERE entry.key = new.key
                """, [.list(keys), .list(values)])
        }
    }
}
