/// An open store: the database, its change counters and its thread.
final class SQLiteConnection: Sendable {
    // Used on the thread alone.
    nonisolated(unsafe) let database: SQLiteDatabase
    let path: String
    let counters: ChangeCounters
    let thread: StorageThread
    private let files: OpenStoreFiles
    private let mustExist: Bool

    private init(
        _ database: SQLiteDatabase, _ files: OpenStoreFiles, _ counters: ChangeCounters, _ thread: StorageThread, mustExist: Bool
    ) {
        self.database = database
        self.files = files
        path = database.path
        self.counters = counters
        self.thread = thread
        self.mustExist = mustExist
    }

    deinit {
        // Moving the log into the database would read an index that was cut, or write over another store.
        if (try? files.check()) == nil { database.leaveLog() }
    }

    /// Checks that the open files are still those at the store's path. Called before the database is used: what is written to a file
    /// that was moved or removed is lost.
    func checkFiles() throws(StorageError) {
        try files.check()
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
            let exists = try schema.checkedVersion(of: database) > 0
            if !exists { try schema.checkEmpty(database) }
            let counters = try ChangeCounters(files.changes)
            if !exists, counters.isOfStore, try SQLiteSchema.version(of: database) == 0 { throw files.lost }
            // Readers don't wait for the writer; a commit that has returned is on the device; deleted content is overwritten.
            // The log that a large change has left is cut to four megabytes. The file is not mapped: if it were cut meanwhile, reading
            // would end the process.
            for pragma in [
                "journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "temp_store = MEMORY",
                "journal_size_limit = 4194304", "mmap_size = 0",
            ] {
                try database.run("PRAGMA \(pragma)")
            }
            try schema.migrate(database)
            let opened = try OpenStoreFiles(files, database)
            return SQLiteConnection(database, opened, counters, thread, mustExist: mustExist)
        }
    }
}

extension SQLiteConnection: SealedKeyKeeping {
    /// A store without a key is damaged, and not new, if its counters say that it existed before.
    func sealedKey() async throws(StorageError) -> (SealedKey, number: Int64)? {
        try await thread.run { () throws(StorageError) in
            try self.checkFiles()
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
            try self.checkFiles()
            try self.database.transaction { () throws(StorageError) in
                if try self.database.sealedKey() == nil { try self.database.save(key, number: 1) }
            }
        }
    }
}

extension SQLiteDatabase {
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
            throw StorageError(
                .damaged, path, problem: "has no identity", remedy: StorageError.restoring)
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
