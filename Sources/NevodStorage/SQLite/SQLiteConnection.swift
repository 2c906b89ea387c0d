/// An open store: the database, its change counters and its thread.
final class SQLiteConnection: Sendable {
    // Used on the thread alone.
    nonisolated(unsafe) let database: SQLiteDatabase
    let path: String
    let counters: ChangeCounters
    let thread: StorageThread
    private let mustExist: Bool

    private init(_ database: SQLiteDatabase, _ counters: ChangeCounters, _ thread: StorageThread, mustExist: Bool) {
        self.database = database
        path = database.path
        self.counters = counters
        self.thread = thread
        self.mustExist = mustExist
    }

    /// - Parameter mustExist: Whether to open existing stores only, and never create one.
    static func open(
        _ path: String, _ schema: SQLiteSchema, mustExist: Bool
    ) async throws(StorageError) -> SQLiteConnection {
        let thread = StorageThread()
        return try await thread.run { () throws(StorageError) in
            // First, so that no file is created if the library is missing.
            _ = try SQLite()
            let given = StoreFiles(path)
            _ = try given.checkPrivate()
            let files = try given.resolved()
            let path = files.path
            // Checked before SQLite opens an empty file, since it would remove the log beside it.
            let isEmpty = try files.checkPrivate() == 0
            if isEmpty, mustExist { throw StorageError(.damaged, path, problem: "is empty", remedy: "give another file") }
            if isEmpty {
                let wasStore = try ChangeCounters(files.changes).isOfStore
                let hasLog = try files.hasLog()
                // Checked again: another process may have created the store meanwhile.
                if wasStore || hasLog, try files.checkPrivate() == 0 { throw files.lost }
                try PrivateFile.makeUnopened(path)
            }
            let database = try SQLiteDatabase(path)
            // Checked before anything is written to a file that may be another program's.
            let exists = try SQLiteSchema.version(of: database) > 0
            if !exists { try schema.checkEmpty(database) }
            let counters = try ChangeCounters(files.changes)
            if !exists, counters.isOfStore, try SQLiteSchema.version(of: database) == 0 { throw files.lost }
            // Readers don't wait for the writer; a commit that has returned is on the device; deleted content is overwritten.
            for pragma in ["journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY"] {
                try database.run("PRAGMA \(pragma)")
            }
            try schema.migrate(database)
            return SQLiteConnection(database, counters, thread, mustExist: mustExist)
        }
    }
}

extension SQLiteConnection: SealedKeyKeeping {
    /// A store without a key is damaged, and not new, if its counters say that it existed before.
    func sealedKey() async throws(StorageError) -> (SealedKey, number: Int64)? {
        try await thread.run { () throws(StorageError) in
            // Read before the key: another process may be creating the store.
            let mayBeNew = !self.mustExist && !self.counters.isOfStore
            guard let found = try self.database.sealedKey() else {
                guard mayBeNew else { throw StoreFiles(self.path).lost }
                return nil
            }
            self.counters.rememberStore()
            return found
        }
    }

    func addFirst(_ key: SealedKey) async throws(StorageError) {
        try await thread.run { () throws(StorageError) in
            try self.database.transaction { () throws(StorageError) in
                if try self.database.sealedKey() == nil { try self.database.save(key, number: 1) }
            }
        }
    }
}

extension SQLiteDatabase {
    func entry(for key: StorageKey) throws(StorageError) -> SealedEntry {
        var entry = SealedEntry()
        try run(
            """
            SELECT key_number, version, sealed, length FROM store LEFT JOIN entry ON key = ?
            """, [.text(key.rawValue)]
        ) { row in
            entry = SealedEntry(version: row.integer(1), sealed: row.sealed(2), keyNumber: row.integer(0))
        }
        return entry
    }

    func save(_ sealed: [UInt8]?, for key: StorageKey, _ version: Int64) throws(StorageError) {
        try run(
            """
            INSERT INTO entry (key, version, sealed, length) VALUES (?, ?, ?, ?)
            ON CONFLICT (key) DO UPDATE SET version = excluded.version, sealed = excluded.sealed, length = excluded.length
            """,
            [
                .text(key.rawValue), .integer(version), sealed.map(SQLiteValue.blob) ?? .null,
                .integer(Int64(sealed?.count ?? 0)),
            ])
    }

    func sealedKey() throws(StorageError) -> (SealedKey, number: Int64)? {
        var found: (SealedKey, Int64)?
        var isDamaged = false
        try run("SELECT id, key_number, key_kind, key_salt, key_sealed FROM store") { row in
            guard let store = StoreIdentifier(row.blob(0)) else {
                isDamaged = true
                return
            }
            found = (SealedKey(store: store, kind: row.text(2), salt: row.blob(3), sealed: row.blob(4)), row.integer(1))
        }
        guard !isDamaged else {
            throw StorageError(.damaged, path, problem: "has no identity", remedy: "restore it from a backup")
        }
        return found
    }

    func save(_ key: SealedKey, number: Int64) throws(StorageError) {
        try run(
            """
            INSERT INTO store (only, id, key_number, key_kind, key_salt, key_sealed) VALUES (1, ?, ?, ?, ?, ?)
            ON CONFLICT (only) DO UPDATE SET key_number = excluded.key_number, key_kind = excluded.key_kind,
                key_salt = excluded.key_salt, key_sealed = excluded.key_sealed
            """,
            [.blob(key.store.bytes), .integer(number), .text(key.kind), .blob(key.salt), .blob(key.sealed)])
    }
}
