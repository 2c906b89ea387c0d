internal import Glibc
package import NevodSupport

/// A file of sealed records that may be lost at any time, shared by several processes. It knows neither the content of a record
/// nor when the record may be used.
///
/// If another process replaces the file, calls fail with `unavailable` instead of using the old one. Open the file again then.
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

    /// Reads the file as of one instant. Runs on a reader's thread, so that a writer doesn't delay it.
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

    /// Runs a body that changes the file. All of its changes are made, or none.
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

    /// Removes all records, and frees their space. What is left of them on the device can't be opened.
    package func removeAll() async throws(StorageError) {
        let (keys, byteLimit) = (keys, byteLimit)
        try await writing.run { (database) throws(StorageError) in
            try database.run("PRAGMA synchronous = FULL")
            defer { try? database.run("PRAGMA synchronous = NORMAL") }
            try database.transaction { () throws(StorageError) in
                var records = try CacheRecords(database, keys, byteLimit: byteLimit)
                try records.removeAll()
            }
            // These steps only save space: the log no longer holds the old epoch. They may fail while other processes read.
            try? database.run("PRAGMA incremental_vacuum")
            try? database.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
    }
}

extension CacheFile {
    /// The file is a cache that can't be used, so it may be replaced.
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
    ///   - byteLimit: The limit on the file's size, not counting its log of a few megabytes.
    ///   - mayRebuild: Whether to replace a cache that is damaged, that has another layout, or that the key doesn't open.
    /// - Returns: the file, and the reason if it was replaced.
    /// - Throws: `damaged` if the file is not a cache's; errors of files and of the source.
    package static func open(
        _ path: String, key source: any StoreKeySource, byteLimit: Int, mayRebuild: Bool
    ) async throws -> (file: CacheFile, replaced: StorageError?) {
        do {
            return (try await open(path, source, byteLimit, first: nil), nil)
        } catch let error as Unusable {
            guard mayRebuild else { throw error.problem }
            // The key comes first: without one, no new file could be created.
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

    /// Removes the open files. Doesn't use SQLite, which would need free space to do so.
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
        // The library is loaded first, so that no file is created if it is missing.
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
                // This limit applies if removing records doesn't make room. A record may need a few pages more than its own.
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

    /// Keeps all other processes from opening or removing the file meanwhile: its log must not be removed while another process
    /// opens both.
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
        // With NORMAL, a power failure may lose a stored response, but leaves the file consistent. Removed records needn't be
        // overwritten, because they are sealed.
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

    /// Whether the open files are still the ones at the path.
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
