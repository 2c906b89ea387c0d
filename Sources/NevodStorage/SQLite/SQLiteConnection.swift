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
        // Moving the log into the database would read a truncated index, or write over another store.
        if (try? files.check()) == nil { database.leaveLog() }
    }

    /// Checks that the open files are still the files at the store's path. Called before the database is used: a write to a moved
    /// or removed file is lost.
    func checkFiles() throws(StorageError) {
        try files.check()
    }

    /// - Parameter mustExist: Whether to open only an existing store, and never create one.
    static func open(
        _ path: String, _ schema: SQLiteSchema, mustExist: Bool
    ) async throws(StorageError) -> SQLiteConnection {
        let thread = StorageThread()
        return try await thread.run { () throws(StorageError) in
            // The library is loaded first, so that no file is created if it is missing.
            _ = try SQLite()
            let files = try StoreFiles.checked(path)
            // Checked before SQLite opens an empty file, because SQLite would remove the log beside it.
            if try files.checkPrivate() == 0 { try files.makeNew(mustExist: mustExist) }
            let database = try SQLiteDatabase(files.path)
            // Checked before anything is written to a file that may be another program's.
            let exists = try schema.checkedVersion(of: database) > 0
            if !exists { try schema.checkEmpty(database) }
            let counters = try ChangeCounters(files.changes)
            if !exists, counters.isOfStore, try SQLiteSchema.version(of: database) == 0 { throw files.lost }
            // With these settings, a commit that has returned is on the device, and deleted content is overwritten.
            try database.useLog(["synchronous = FULL", "secure_delete = ON"])
            try schema.migrate(database)
            let opened = try OpenStoreFiles(files, database)
            return SQLiteConnection(database, opened, counters, thread, mustExist: mustExist)
        }
    }
}

extension SQLiteConnection: SealedKeyKeeping {
    /// If the counters say that the store existed before, a store without a key is damaged, not new.
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
            try self.database.saveFirst(key)
        }
    }
}
