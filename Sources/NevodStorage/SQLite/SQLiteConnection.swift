/// An open store: the database and what stands beside it.
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

    /// - Parameter mustExist: whether what isn't a store is refused, and none is made of nothing.
    static func open(
        _ path: String, _ schema: SQLiteSchema, mustExist: Bool
    ) async throws(StorageError) -> SQLiteConnection {
        let thread = StorageThread()
        return try await thread.run { () throws(StorageError) in
            // Without the library, no file is made.
            _ = try SQLite()
            let given = StoreFiles(path)
            _ = try given.checkPrivate()
            let files = try given.resolved()
            let path = files.path
            // Before SQLite sees an empty file: it would remove the log beside it.
            let isEmpty = try files.checkPrivate() == 0
            if isEmpty, mustExist { throw StorageError(.damaged, path, problem: "is empty", remedy: "give another file") }
            if isEmpty {
                let wasStore = try ChangeCounters(files.changes).isOfStore
                let hasLog = try files.hasLog()
                // Looked at again: another process may have made the store meanwhile.
                if wasStore || hasLog, try files.checkPrivate() == 0 { throw files.lost }
                try PrivateFile.makeUnopened(path)
            }
            let database = try SQLiteDatabase(path)
            // Before anything is written to a file that may be another's.
            let isMade = try SQLiteSchema.version(of: database) > 0
            if !isMade { try schema.checkEmpty(database) }
            let counters = try ChangeCounters(files.changes)
            if !isMade, counters.isOfStore, try SQLiteSchema.version(of: database) == 0 { throw files.lost }
            // Readers don't wait for the writer; a commit is on the device when it returns; what is removed is overwritten.
            for pragma in ["journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY"] {
                try database.run("PRAGMA \(pragma)")
            }
            try schema.migrate(database)
            return SQLiteConnection(database, counters, thread, mustExist: mustExist)
        }
    }
}

extension SQLiteConnection: SealedKeyKeeping {
    /// Where there has been a store, one without its key is damaged, and not a new one.
    func sealedKey() async throws(StorageError) -> (SealedKey, number: Int64)? {
        try await thread.run { () throws(StorageError) in
            // Before the key is looked for: another process may be making the store.
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
            throw StorageError(.damaged, path, problem: "has no identity", remedy: "put it back from a backup")
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
