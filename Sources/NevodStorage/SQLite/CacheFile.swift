internal import Glibc
package import NevodSupport

/// A file of sealed records that may be lost at any time, shared by several processes. It knows neither the content of a record
/// nor when the record may be used.
///
/// If another process has replaced the file, that is noticed before the file is used: calls then fail with `unavailable`, and
/// opening it again helps.
package final class CacheFile: Sendable {
    static let pageSize = 4096

    private let reading: CacheConnection
    let writing: CacheConnection
    private let keys: CacheKeys
    private let byteLimit: Int

    init(_ reading: CacheConnection, _ writing: CacheConnection, _ keys: CacheKeys, byteLimit: Int) {
        (self.reading, self.writing, self.keys, self.byteLimit) = (reading, writing, keys, byteLimit)
    }

    /// A key for digests of resources and users. It is as secret as the file's own key, and the same for all processes that use
    /// the file.
    package var digestKey: Secret { keys.digests }

    /// Reads from one state of the file, on a thread of the readers, so that a writer doesn't delay it.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (inout CacheRecords) throws(StorageError) -> Result
    ) async throws(StorageError) -> Result {
        let (keys, byteLimit) = (keys, byteLimit)
        return try await reading.run { (database) throws(StorageError) in
            try database.snapshot { () throws(StorageError) in
                var records = try CacheRecords(database, keys, byteLimit: byteLimit)
                return try body(&records)
            }
        }
    }

    /// Changes the file: makes all changes of the body, or none.
    ///
    /// - Parameter resources: The resources that the body invalidates. If the file has records of them, the change is on the
    ///   device when this returns.
    package func write(
        invalidating resources: [[UInt8]] = [],
        _ body: @escaping @Sendable (inout CacheRecords) throws(StorageError) -> Void
    ) async throws(StorageError) {
        let (keys, byteLimit) = (keys, byteLimit)
        try await writing.run { (database) throws(StorageError) in
            var isDurable = false
            for resource in resources where !isDurable {
                isDurable = try database.integer("SELECT 1 FROM record WHERE resource = ? LIMIT 1", [.blob(resource)]) == 1
            }
            if isDurable { try database.run("PRAGMA synchronous = FULL") }
            defer { if isDurable { try? database.run("PRAGMA synchronous = NORMAL") } }
            try database.transaction { () throws(StorageError) in
                var records = try CacheRecords(database, keys, byteLimit: byteLimit)
                try body(&records)
                try records.finish()
            }
        }
    }

    /// Removes all records, even from the device, and gives back their space.
    package func removeAll() async throws(StorageError) {
        let (keys, byteLimit) = (keys, byteLimit)
        try await writing.run { (database) throws(StorageError) in
            try database.run("PRAGMA synchronous = FULL")
            defer { try? database.run("PRAGMA synchronous = NORMAL") }
            try database.transaction { () throws(StorageError) in
                var records = try CacheRecords(database, keys, byteLimit: byteLimit)
                try records.removeAll()
            }
            // These only save space, and the log no longer holds the old epoch. Readers of other processes may delay them.
            try? database.run("PRAGMA incremental_vacuum")
            try? database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }
}

extension CacheFile {
    /// The file is a cache's and can't be used, so it may be replaced.
    private struct Unusable: Error {
        let problem: StorageError
    }

    private enum Connections {
        case open(reading: CacheConnection, writing: CacheConnection)
        case unusable(StorageError)
    }

    /// Opens the file, or creates it.
    ///
    /// - Parameters:
    ///   - path: An absolute path. A missing folder is created with mode 0700.
    ///   - source: Wraps the file's key.
    ///   - byteLimit: The size of the file, without its log of a few megabytes.
    ///   - mayRebuild: Whether to replace a cache that is damaged, that has another layout, or that the key doesn't open.
    /// - Returns: the file, and why it was replaced; nil if it wasn't.
    /// - Throws: `damaged` if the file is not a cache's; errors of files and of the source.
    package static func open(
        _ path: String, key source: any StoreKeySource, byteLimit: Int, mayRebuild: Bool
    ) async throws -> (file: CacheFile, replaced: StorageError?) {
        do {
            return (try await open(path, source, byteLimit, first: nil), nil)
        } catch let error as Unusable {
            guard mayRebuild else { throw error.problem }
            // First, because without a key there would be no new file either.
            let key = try await SealedKey.make(.random(), of: .random(), named: path, with: [source])
            guard try await remove(path) else { throw error.problem }
            do { return (try await open(path, source, byteLimit, first: key), error.problem) } catch let error as Unusable {
                throw error.problem
            }
        }
    }

    /// Removes a cache's files. Processes that have them open notice it.
    ///
    /// - Returns: false if something else is at the path, which stays; true if nothing is there.
    package static func remove(_ path: String) async throws(StorageError) -> Bool {
        try await StorageThread().run { () throws(StorageError) in
            let files = try StoreFiles.checked(path)
            return try withLock(on: files) { () throws(StorageError) in
                guard try files.checkPrivate() > 0 else { return true }
                do throws(StorageError) {
                    let database = try SQLiteDatabase(files.path)
                    try database.run("PRAGMA busy_timeout = 1000")
                    guard try database.integer("PRAGMA application_id") == CacheSchema.applicationID else { return false }
                    // The log is removed too, so it need not be moved into the database.
                    database.leaveLog()
                } catch {
                    guard error.code == .damaged else { throw error }
                    return false
                }
                try unlink(files)
                return true
            }
        }
    }

    /// Removes the open files. Doesn't use SQLite, which would need space for that.
    ///
    /// - Returns: false if other files are now at the path, which stay.
    package func remove() async throws(StorageError) -> Bool {
        let writing = writing
        return try await StorageThread().run { () throws(StorageError) in
            try Self.withLock(on: writing.files) { () throws(StorageError) in
                guard writing.isCurrent else { return false }
                try Self.unlink(writing.files)
                return true
            }
        }
    }

    private static func unlink(_ files: StoreFiles) throws(StorageError) {
        // The order matters if this is interrupted. SQLite would apply a leftover journal to the next database, so the journal is
        // removed first. SQLite itself removes a log that has no database, so the log is removed after the database.
        for path in ["\(files.path)-journal", files.path, files.log, files.index] {
            guard Glibc.unlink(path) == 0 || errno == ENOENT else { throw StorageError(path, "can't be removed", errno: errno) }
        }
    }

    private static func open(
        _ path: String, _ source: any StoreKeySource, _ byteLimit: Int, first: SealedKey?
    ) async throws -> CacheFile {
        let connections = try await StorageThread().run { () throws(StorageError) in try connect(path, byteLimit) }
        guard case .open(let reading, let writing) = connections else {
            if case .unusable(let problem) = connections { throw Unusable(problem: problem) }
            throw StorageError(.other, path, problem: "can't be opened")
        }
        let keys = try await keys(path, source, writing, first: first)
        return CacheFile(reading, writing, keys, byteLimit: byteLimit)
    }

    /// Called on a thread that may block.
    private static func connect(_ path: String, _ byteLimit: Int) throws(StorageError) -> Connections {
        // First, so that no file is created if the library is missing.
        _ = try SQLite()
        let files = try StoreFiles.checked(path)
        return try withLock(on: files) { () throws(StorageError) in
            if try files.checkPrivate() == 0 { try PrivateFile.makeUnopened(files.path) }
            let writing = try SQLiteDatabase(files.path)
            try writing.run("PRAGMA busy_timeout = 1000")
            switch CacheSchema.examine(writing) {
            case .foreign(let problem): throw problem
            case .unusable(let problem): return .unusable(problem)
            case .empty: try CacheSchema.create(in: writing)
            case .current: break
            }
            do throws(StorageError) {
                // This limit is for a file whose records can't make room. Each record may need a few more pages than its own.
                let pages = max(0, byteLimit) / pageSize + 4096
                try writing.run("PRAGMA max_page_count = \(pages)")
                return .open(
                    reading: try CacheConnection(SQLiteDatabase(files.path), files, timeout: 250),
                    writing: try CacheConnection(writing, files, timeout: 1000))
            } catch {
                guard error.code == .damaged else { throw error }
                return .unusable(error)
            }
        }
    }

    private static func keys(
        _ path: String, _ source: any StoreKeySource, _ connection: CacheConnection, first: SealedKey?
    ) async throws -> CacheKeys {
        var sealed = try await sealedKey(connection)
        if sealed == nil {
            let new: SealedKey
            if let first {
                new = first
            } else {
                new = try await SealedKey.make(.random(), of: .random(), named: path, with: [source])
            }
            try await connection.run { (database) throws(StorageError) in try database.saveFirst(new) }
            sealed = try await sealedKey(connection)
        }
        guard let sealed else { throw StorageError(.unavailable, path, problem: "has lost its key") }
        do {
            return CacheKeys(sealed.store, try await sealed.open(named: path, with: [source]))
        } catch let error as StorageError where error.code == .permissions || error.code == .unavailable {
            // The key is another cache's, or a new one that replaces a lost key.
            guard await source.isAvailable() else { throw error }
            throw Unusable(problem: error)
        }
    }

    private static func sealedKey(_ connection: CacheConnection) async throws -> SealedKey? {
        do {
            return try await connection.run { (database) throws(StorageError) in try database.sealedKey()?.0 }
        } catch let error where error.code == .damaged {
            throw Unusable(problem: error)
        }
    }

    /// Excludes other openings and removals, of all processes: a log must not be removed while another process opens the file
    /// with it.
    private static func withLock<Result>(
        on files: StoreFiles, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let lock = try FileLock("\(files.path)-lock", until: .now + .seconds(2))
        defer { withExtendedLifetime(lock) {} }
        return try body()
    }
}

/// A connection to a cache's file, and its thread.
final class CacheConnection: Sendable {
    // Used on the thread alone.
    private nonisolated(unsafe) let database: SQLiteDatabase
    let files: StoreFiles
    private let opened: OpenStoreFiles
    private let thread = StorageThread()

    /// - Parameter timeout: How long to wait for other processes, in milliseconds.
    init(_ database: SQLiteDatabase, _ files: StoreFiles, timeout: Int) throws(StorageError) {
        try database.run("PRAGMA busy_timeout = \(timeout)")
        // A power failure may lose the commit of a response, but leaves the file consistent. Removed records are sealed.
        try database.useLog(["synchronous = NORMAL", "secure_delete = OFF"])
        _ = try database.integer("SELECT changes FROM state")
        self.files = files
        opened = try OpenStoreFiles(files, database)
        self.database = database
    }

    deinit {
        // Moving the log into the database would read a truncated index, or write over another file.
        if !isCurrent { database.leaveLog() }
    }

    /// Whether the open files are still the files at the path.
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
