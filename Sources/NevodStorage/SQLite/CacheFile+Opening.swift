internal import Glibc

extension CacheFile {
    /// The file can't be used, and is a cache's, so that it may be made anew.
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
    ///   - byteLimit: The size of the file, without its log of some megabytes.
    ///   - mayRebuild: Whether to replace a cache that is damaged, that has another layout, or that the key doesn't open.
    /// - Returns: the file, and why it was replaced; nil if it wasn't.
    /// - Throws: `damaged` if the file is no cache's; errors of files and of the source.
    package static func open(
        _ path: String, key source: any StoreKeySource, byteLimit: Int, mayRebuild: Bool
    ) async throws -> (file: CacheFile, replaced: StorageError?) {
        do {
            return (try await open(path, source, byteLimit, first: nil), nil)
        } catch let error as Unusable {
            guard mayRebuild else { throw error.problem }
            // First: without a key there would be no new file either.
            let key = try await SealedKey.make(.random(), of: .random(), named: path, with: [source])
            guard try await remove(path) else { throw error.problem }
            do { return (try await open(path, source, byteLimit, first: key), error.problem) } catch let error as Unusable {
                throw error.problem
            }
        }
    }

    /// Removes a cache's files. Processes that have them open notice that.
    ///
    /// - Returns: false if there is something else at the path, which stays; true if there is nothing.
    package static func remove(_ path: String) async throws(StorageError) -> Bool {
        try await StorageThread().run { () throws(StorageError) in
            let given = StoreFiles(path)
            _ = try given.checkPrivate()
            let files = try given.resolved()
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

    /// Removes the open files; without a use of SQLite, which needs space for that.
    ///
    /// - Returns: false if other files are at the path by now, which stay.
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
        // The database before its log: without it, SQLite removes a log that is left. A journal would be moved into the next database.
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
        let given = StoreFiles(path)
        _ = try given.checkPrivate()
        let files = try given.resolved()
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
                // A limit for a file whose records can't make room. Each record may need some pages more than its own.
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
            try await connection.run { (database) throws(StorageError) in
                try database.transaction { () throws(StorageError) in
                    // Another process may have saved one.
                    if try database.sealedKey() == nil { try database.save(new, number: 1) }
                }
            }
            sealed = try await sealedKey(connection)
        }
        guard let sealed else { throw StorageError(.unavailable, path, problem: "does not keep its key") }
        do {
            return CacheKeys(sealed.store, try await sealed.open(named: path, with: [source]))
        } catch let error as StorageError where error.code == .permissions || error.code == .unavailable {
            // The key of another cache, or a new one in place of a lost one.
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

    /// Excludes other openings and removals, of all processes: a log must not be removed while another process opens the file with it.
    private static func withLock<Result>(
        on files: StoreFiles, _ body: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let path = "\(files.path)-lock"
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        let lock = try PrivateFile(descriptor, .file, path: path)
        let deadline = ContinuousClock.now + .seconds(2)
        while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw StorageError(path, "can't be locked", errno: errno) }
            guard ContinuousClock.now < deadline else {
                throw StorageError(
                    .busy, path, problem: "is locked by another process", remedy: "find it with: fuser '\(path)'")
            }
            usleep(1000)
        }
        return try body()
    }
}
