internal import Glibc

/// A store's database, and the files beside it.
struct StoreFiles {
    let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The files at a path, in the form that SQLite accepts, after the checks of ``checkPrivate()``.
    static func checked(_ path: String) throws(StorageError) -> StoreFiles {
        let given = StoreFiles(path)
        _ = try given.checkPrivate()
        return try given.resolved()
    }

    /// The file of ``ChangeCounters``.
    var changes: String { "\(path)-changes" }
    var log: String { "\(path)-wal" }
    /// The index of the log.
    var index: String { "\(path)-shm" }

    /// Checks that only this user can access the files, before SQLite opens them. SQLite gives new files beside the database the
    /// same mode. Creates the folder if it is missing.
    ///
    /// - Returns: the size of the database; 0 if there is none.
    func checkPrivate() throws(StorageError) -> Int {
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw StorageError(.other, path, problem: "is not the absolute path of a file")
        }
        try PrivateDirectory.makePlace(of: path)
        for path in [log, index, "\(path)-journal"] { _ = try PrivateFile.size(ofUnopened: path) }
        return try PrivateFile.size(ofUnopened: path) ?? 0
    }

    /// The same path without symbolic links among its folders, which SQLite would refuse. The file itself must not be a link.
    func resolved() throws(StorageError) -> StoreFiles {
        guard let folder = realpath(path.parentFolder ?? ".", nil) else {
            throw StorageError(path, "can't be opened", errno: errno)
        }
        defer { free(folder) }
        let parent = String(cString: folder)
        return StoreFiles("\(parent == "/" ? "" : parent)/\(path.fileName)")
    }

    /// Whether there is a non-empty log.
    func hasLog() throws(StorageError) -> Bool {
        try PrivateFile.size(ofUnopened: log) ?? 0 > 0
    }

    /// Whether the file can be an export: the store has no other files beside it, and its header (SQLite's file format, §1.3)
    /// says that it has no log.
    func isOfOneFile() throws(StorageError) -> Bool {
        // If this process has the database open, only its name is examined: closing a descriptor would drop its locks.
        for path in [changes, log, index] where access(path, F_OK) == 0 { return false }
        guard let file = try PrivateFile.existing(path) else { throw StorageError(path, "can't be opened", errno: ENOENT) }
        var versions: [UInt8] = [0, 0]
        _ = pread(file.descriptor, &versions, 2, 18)
        return !versions.contains(2)
    }
}

/// The files of an open database, as they were when it was opened.
struct OpenStoreFiles: Sendable {
    private let path: String
    private let database: FileIdentity
    /// The log and its index. SQLite keeps them open, and would not notice if they disappeared. Nil if there are none.
    private let log: FileIdentity?
    private let index: FileIdentity?

    /// - Parameter database: Must have been read from, so that its log is open too.
    init(_ files: StoreFiles, _ database: SQLiteDatabase) throws(StorageError) {
        path = files.path
        // SQLite compares its open file with the file at the path. The path is examined before and after, to be sure that SQLite
        // has seen the same file.
        guard let first = FileIdentity(at: path), try !database.hasMoved(), first.isSame(as: FileIdentity(at: path)) else {
            throw Self.moved(path, path)
        }
        self.database = first
        log = FileIdentity(at: files.log)
        index = FileIdentity(at: files.index)
    }

    func check() throws(StorageError) {
        guard database.isSame(as: FileIdentity(at: path)) else { throw Self.moved(path, path) }
        let files = StoreFiles(path)
        if let log, !log.isSame(as: FileIdentity(at: files.log)) { throw Self.moved(path, files.log) }
        guard let index else { return }
        let now = FileIdentity(at: files.index)
        // SQLite maps the index: if it was truncated, reading it would end the process.
        guard index.isSame(as: now), let now, now.size >= index.size else { throw Self.moved(path, files.index) }
    }

    private static func moved(_ store: String, _ path: String) -> StorageError {
        StorageError(
            .unavailable, path,
            problem: "was moved, removed, replaced or truncated while \(store == path ? "it" : store) was open",
            remedy:
                "stop the programs that use it; then put the files back, or restore the store from a backup, and start them again"
        )
    }
}
