internal import Glibc

/// A store's database, and what stands beside it.
struct StoreFiles {
    let path: String

    init(_ path: String) {
        self.path = path
    }

    /// The counts of changes; see ``ChangeCounters``.
    var changes: String { "\(path)-changes" }
    private var log: String { "\(path)-wal" }

    /// They are ours alone before SQLite opens them: it gives those beside the database the database's mode. The folder is made
    /// if it isn't there.
    ///
    /// - Returns: the size of the database; 0 if there is none.
    func checkPrivate() throws(StorageError) -> Int {
        guard path.hasPrefix("/"), !path.hasSuffix("/"), !path.utf8.contains(0) else {
            throw StorageError(.other, path, problem: "is not an absolute path of a file")
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try PrivateDirectory.make(String(path[..<slash]))
        }
        for beside in [log, "\(path)-shm", "\(path)-journal"] { _ = try PrivateFile.size(ofUnopened: beside) }
        return try PrivateFile.size(ofUnopened: path) ?? 0
    }

    /// The same place without links among its folders, which SQLite would refuse. The file itself may be none.
    func resolved() throws(StorageError) -> StoreFiles {
        guard let slash = path.lastIndex(of: "/"), let folder = realpath(String(path[...slash]), nil) else {
            throw StorageError(path, "can't be opened", errno: errno)
        }
        defer { free(folder) }
        let parent = String(cString: folder)
        return StoreFiles("\(parent == "/" ? "" : parent)\(path[slash...])")
    }

    /// Whether there is a log with something in it.
    func hasLog() throws(StorageError) -> Bool {
        try PrivateFile.size(ofUnopened: log) ?? 0 > 0
    }

    /// Whether it is what an export leaves: nothing stands beside it, and its header (SQLite's file format, §1.3) says that no log
    /// belongs to it.
    func isOfOneFile() throws(StorageError) -> Bool {
        // What this process has open is examined by name alone: its locks would go when this descriptor is closed.
        for beside in [changes, log, "\(path)-shm"] where access(beside, F_OK) == 0 { return false }
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        let file = try PrivateFile(descriptor, .file, path: path)
        var versions: [UInt8] = [0, 0]
        _ = pread(file.descriptor, &versions, 2, 18)
        return !versions.contains(2)
    }

    /// Where there was a store, nothing is made in its place behind the user's back.
    var lost: StorageError {
        StorageError(
            .damaged, path, problem: "was a store, and holds none any more",
            remedy: "put it back from a backup, or, to begin anew, remove '\(changes)' and '\(log)'")
    }
}
