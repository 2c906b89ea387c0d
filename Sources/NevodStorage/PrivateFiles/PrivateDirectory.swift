internal import Glibc
internal import NevodSupport

/// A folder of small files that only this user can access. Opened for each operation, so that a store still works after its folder
/// was moved or restored; within an operation, every path is relative to the descriptor.
struct PrivateDirectory: ~Copyable {
    private let folder: PrivateFile

    // No key's file has one of these names.
    private static let lockName = ".lock"
    private static let temporaryName = ".new"

    init(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOTDIR || errno == ELOOP else { throw StorageError(path, "can't be opened", errno: errno) }
            throw StorageError(
                .damaged, path, problem: "is not a folder, or is a symbolic link",
                remedy: "give the path of the folder itself", systemCode: errno)
        }
        folder = try PrivateFile(descriptor, .folder, path: path)
    }

    /// Creates the folder and its missing parents, each with mode 0700.
    static func make(_ path: String) throws(StorageError) {
        if mkdir(path, 0o700) == 0 { return try synchroniseParent(of: path) }
        if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try make(String(path[..<slash]))
            if mkdir(path, 0o700) == 0 { return try synchroniseParent(of: path) }
        }
        guard errno == EEXIST else { throw StorageError(path, "can't be created", errno: errno) }
    }

    /// Refuses a folder in which any user may replace files: whoever can remove a store can put an older one in its place.
    ///
    /// - Parameter path: an existing folder; symbolic links are followed.
    static func checkPlace(_ path: String) throws(StorageError) {
        guard let resolved = realpath(path, nil) else { throw StorageError(path, "can't be examined", errno: errno) }
        defer { free(resolved) }
        var folder = String(cString: resolved)
        while true {
            var info = stat()
            guard stat(folder, &info) == 0 else { throw StorageError(folder, "can't be examined", errno: errno) }
            // In a folder with the sticky bit, such as /tmp, only a file's owner can replace it.
            guard info.st_mode & S_IWOTH == 0 || info.st_mode & S_ISVTX != 0 else {
                throw StorageError(
                    .permissions, folder,
                    problem: "any user may replace what is in it (mode \(String(info.st_mode & 0o7777, radix: 8)))",
                    remedy: "chmod o-w '\(folder)', or choose another folder")
            }
            guard let slash = folder.lastIndex(of: "/"), folder != "/" else { return }
            folder = slash == folder.startIndex ? "/" : String(folder[..<slash])
        }
    }

    private static func synchroniseParent(of path: String) throws(StorageError) {
        let parent = open("\(path)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw StorageError(path, "can't be written to its device", errno: errno) }
    }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    // MARK: Values

    /// - Returns: nil if there is no such file.
    /// - Throws: `.tooLarge` if the file has more than `limit` bytes.
    func read(_ name: String, upTo limit: Int) throws(StorageError) -> [UInt8]? {
        guard let file = try openFile(name, O_RDONLY) else { return nil }
        guard file.size <= limit else {
            throw StorageError(
                .tooLarge, path(name), problem: "holds \(file.size) bytes, more than \(limit)",
                remedy: "move it away: this store did not write it")
        }
        return try file.read()
    }

    /// Requires ``withLock(timeout:_:)``.
    func replace(_ name: String, with bytes: [UInt8]) throws(StorageError) {
        try removeTemporary()
        try checkReplaceable(name)
        try bytes.withUnsafeBufferPointer { (bytes) throws(StorageError) in
            try PrivateFile.write(UnsafeRawBufferPointer(bytes), to: name, as: Self.temporaryName, in: folder)
        }
    }

    /// Requires ``withLock(timeout:_:)``.
    func remove(_ name: String) throws(StorageError) {
        try removeTemporary()
        guard unlinkat(folder.descriptor, name, 0) == 0 else {
            guard errno == ENOENT else { throw StorageError(path(name), "can't be removed", errno: errno) }
            return
        }
        try folder.synchronise()
    }

    /// Removes what a process left behind that was killed during a write. Writers hold the lock, so no other one uses the file now.
    private func removeTemporary() throws(StorageError) {
        guard unlinkat(folder.descriptor, Self.temporaryName, 0) == 0 || errno == ENOENT else {
            throw StorageError(path(Self.temporaryName), "can't be removed", errno: errno)
        }
    }

    /// Refuses to replace a symbolic link, which was put there on purpose.
    private func checkReplaceable(_ name: String) throws(StorageError) {
        var info = stat()
        guard fstatat(folder.descriptor, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
        guard info.st_mode & S_IFMT == S_IFREG else { throw Self.notRegular(path(name)) }
    }

    private func openFile(_ name: String, _ flags: Int32) throws(StorageError) -> PrivateFile? {
        // Without O_NONBLOCK, opening a FIFO waits for a writer.
        let descriptor = openat(folder.descriptor, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            if errno == ELOOP { throw Self.notRegular(path(name)) }
            throw StorageError(path(name), "can't be opened", errno: errno)
        }
        return try PrivateFile(descriptor, .file, path: path(name))
    }

    private static func notRegular(_ path: String) -> StorageError {
        StorageError(.damaged, path, problem: "is not a regular file", remedy: "move away what is there")
    }

    // MARK: The lock

    /// Runs the body under a lock that excludes all other writers to this folder, in this process and others. The system releases the
    /// lock when its holder dies.
    ///
    /// - Parameter timeout: How long to wait for the lock; one write takes some milliseconds.
    func withLock<Result>(
        timeout: Duration = .seconds(10), _ body: (borrowing PrivateDirectory) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let lock = try lock(timeout)
        defer { _ = flock(lock.descriptor, LOCK_UN) }
        return try body(self)
    }

    private func lock(_ timeout: Duration) throws(StorageError) -> PrivateFile {
        let deadline = ContinuousClock.now + timeout
        while true {
            guard let lock = try openFile(Self.lockName, O_RDWR | O_CREAT) else {
                throw StorageError(path(Self.lockName), "can't be created", errno: ENOENT)
            }
            while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
                guard errno == EWOULDBLOCK || errno == EINTR else {
                    throw StorageError(lock.path, "can't be locked", errno: errno)
                }
                guard ContinuousClock.now < deadline else {
                    throw StorageError(
                        .busy, lock.path, problem: "has been locked by another process for \(timeout)",
                        remedy: "find it with: fuser '\(lock.path)'", systemCode: EWOULDBLOCK)
                }
                // A blocking flock would wait forever for a process that was stopped.
                usleep(1000)
            }
            if isCurrent(lock) { return lock }
        }
    }

    /// False if the file was removed meanwhile: the next process would create and lock another one.
    private func isCurrent(_ lock: borrowing PrivateFile) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(lock.descriptor, &own) == 0
            && fstatat(folder.descriptor, Self.lockName, &named, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }
}
