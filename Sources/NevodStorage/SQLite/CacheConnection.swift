/// A connection to a cache's file, and its thread.
final class CacheConnection: Sendable {
    // Used on the thread alone.
    private nonisolated(unsafe) let database: SQLiteDatabase
    let files: StoreFiles
    private let opened: OpenStoreFiles
    private let thread = StorageThread()

    /// - Parameter timeout: How long to wait for other processes, in milliseconds.
    init(_ database: SQLiteDatabase, _ files: StoreFiles, timeout: Int) throws(StorageError) {
        // A commit of a response may be lost in a power failure, but leaves the file consistent. Removed records are sealed. The file
        // is not mapped: if it were cut meanwhile, reading would end the process.
        for pragma in [
            "busy_timeout = \(timeout)", "journal_mode = WAL", "synchronous = NORMAL", "secure_delete = OFF",
            "temp_store = MEMORY",
            "journal_size_limit = 4194304", "mmap_size = 0",
        ] {
            try database.run("PRAGMA \(pragma)")
        }
        _ = try database.integer("SELECT changes FROM state")
        self.files = files
        opened = try OpenStoreFiles(files, database)
        self.database = database
    }

    deinit {
        // Moving the log into the database would read an index that was cut, or write over another file.
        if !isCurrent { database.leaveLog() }
    }

    /// Whether the files at the path are those that are open.
    var isCurrent: Bool { (try? opened.check()) != nil }

    /// - Throws: `unavailable` if the files are no longer those at the path.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteDatabase) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        try await thread.run { () throws(StorageError) in
            try self.opened.check()
            return try body(self.database)
        }
    }
}
