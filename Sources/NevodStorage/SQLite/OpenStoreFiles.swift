internal import Glibc

/// The files that an open database uses, as they were when it was opened.
struct OpenStoreFiles: Sendable {
    /// A file, whatever its name is by now.
    private struct Identity: Equatable {
        let device: dev_t
        let number: ino_t
        let size: off_t

        /// Nil if there is no such file.
        init?(_ path: String) {
            var info = stat()
            guard lstat(path, &info) == 0 else { return nil }
            (device, number, size) = (info.st_dev, info.st_ino, info.st_size)
        }

        func isSame(as other: Identity?) -> Bool { device == other?.device && number == other?.number }
    }

    private let path: String
    private let database: Identity
    /// The log and its index, which SQLite keeps open and would not miss. Nil without them.
    private let log: Identity?
    private let index: Identity?

    /// - Parameter database: Has been read from, so that its log is open too.
    init(_ files: StoreFiles, _ database: SQLiteDatabase) throws(StorageError) {
        path = files.path
        // SQLite compares the file that it has open with what stands at the path; before that and after, so does this.
        guard let first = Identity(path), try !database.hasMoved(), let second = Identity(path), first.isSame(as: second) else {
            throw Self.moved(path, path)
        }
        self.database = first
        log = Identity(files.log)
        index = Identity(files.index)
    }

    func check() throws(StorageError) {
        guard database.isSame(as: Identity(path)) else { throw Self.moved(path, path) }
        let files = StoreFiles(path)
        if let log, !log.isSame(as: Identity(files.log)) { throw Self.moved(path, files.log) }
        guard let index else { return }
        let now = Identity(files.index)
        // SQLite maps the index: once it is cut, reading it would end the process.
        guard index.isSame(as: now), let now, now.size >= index.size else { throw Self.moved(path, files.index) }
    }

    private static func moved(_ store: String, _ path: String) -> StorageError {
        StorageError(
            .unavailable, path, problem: "was moved, removed, replaced or cut while \(store == path ? "it" : store) was open",
            remedy:
                "stop the programs that use it; then put the files back, or restore the store from a backup, and start them again"
        )
    }
}
