internal import NevodStorage

/// An entry, and the store in which it was found.
struct PostgreSQLEntry: Sendable {
    var sealed = SealedEntry()
    /// Nil if the schema has no store.
    var store: StoreIdentifier?
}

/// One version of a value, to be sent to the server.
struct PostgreSQLWrite: Sendable {
    let key: StorageKey
    let version: Int64
    /// Nil removes the value. No two sealed values are equal, since each has its own nonce.
    let sealed: [UInt8]?
    let store: StoreIdentifier
    let keyNumber: Int64
    /// The number of the renewal lock under which the value was obtained; nil if there was no lock, as for a login.
    var fence: Int64?
    let channel: String

    /// The outcome of a write whose connection was lost before the response.
    enum Outcome: Equatable {
        case written
        /// Not written so far. It is safe to send the same write again: one of the two fails, since its version exists.
        case pending
        /// Another process has written this version.
        case overtaken
        /// Later versions exist, and it can't be known what they replaced.
        case unknown
    }

    /// - Parameter entry: The entry that is stored now.
    func outcome(given entry: SealedEntry) -> Outcome {
        if entry.version < version { return .pending }
        if entry.version > version { return .unknown }
        return entry.sealed == sealed ? .written : .overtaken
    }
}

extension PostgreSQLConnection {
    /// Reads entries in one round trip, as of one instant.
    ///
    /// - Returns: no entries if the store has no key.
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
        // A change of the store's key locks the table, and a statement reads rows only after it has its own lock on the table. So
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

    /// Reads all entries in the order of their keys, 500 for each page. The body may change them.
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
