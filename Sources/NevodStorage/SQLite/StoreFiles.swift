internal import Glibc

/// A store's database, and the files beside it.
struct StoreFiles {
    let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The file of ``ChangeCounters``.
    var changes: String { "\(path)-changes" }
    var log: String { "\(path)-wal" }
    /// The index of the log.
    var index: String { "\(path)-shm" }

    /// Checks that only this user can access the files, before SQLite opens them; SQLite gives new files beside the database the same
    /// mode. Creates the folder if it is missing.
    ///
    /// - Returns: the size of the database; 0 if there is none.
    func checkPrivate() throws(StorageError) -> Int {
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw StorageError(.other, path, problem: "is not the absolute path of a file")
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            let folder = String(path[..<slash])
            try PrivateDirectory.make(folder)
            try PrivateDirectory.checkPlace(folder)
        }
        for path in [log, index, "\(path)-journal"] { _ = try PrivateFile.size(ofUnopened: path) }
        return try PrivateFile.size(ofUnopened: path) ?? 0
    }

    /// The same path without symbolic links among its folders, which SQLite would refuse. The file itself must not be a link.
    func resolved() throws(StorageError) -> StoreFiles {
        guard let slash = path.lastIndex(of: "/"), let folder = realpath(String(path[...slash]), nil) else {
            throw StorageError(path, "can't be opened", errno: errno)
        }
        defer { free(folder) }
        let parent = String(cString: folder)
        return StoreFiles("\(parent == "/" ? "" : parent)\(path[slash...])")
    }

    /// Whether there is a log that isn't empty.
    func hasLog() throws(StorageError) -> Bool {
        try PrivateFile.size(ofUnopened: log) ?? 0 > 0
    }

    /// Whether the file can be an export: there are no files beside it, and its header (SQLite's file format, §1.3) says that it has no
    /// log.
    func isOfOneFile() throws(StorageError) -> Bool {
        // A database that this process has open is examined by name only: closing a descriptor would drop its locks.
        for path in [changes, log, index] where access(path, F_OK) == 0 { return false }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        let file = try PrivateFile(descriptor, .file, path: path)
        var versions: [UInt8] = [0, 0]
        _ = pread(file.descriptor, &versions, 2, 18)
        return !versions.contains(2)
    }

    /// The error for a store that has become empty: no new one is created in its place without the user's knowledge.
    var lost: StorageError {
        StorageError(
            .damaged, path, problem: "was a store, and is empty now",
            remedy: "\(StorageError.restoring), or, to start over, remove '\(changes)' and '\(log)'")
    }
}
