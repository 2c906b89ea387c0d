internal import Glibc
internal import NevodSupport

/// A folder of small files that only this user can look into. Opened for each operation, so that a store goes on after its
/// folder was moved or restored; within one, everything is relative to the descriptor.
struct PrivateDirectory: ~Copyable {
    private let folder: PrivateFile

    // Names that a key can't have.
    private static let lockName = ".lock"
    private static let temporaryName = ".new"

    init(_ path: String) throws(StorageError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            guard errno == ENOTDIR || errno == ELOOP else { throw StorageError(path, "can't be opened", errno: errno) }
            throw StorageError(
                .damaged, path, problem: "is not a folder, or a symbolic link stands in its place",
                remedy: "give the path of the folder itself", systemCode: errno)
        }
        folder = try PrivateFile(descriptor, .folder, path: path)
    }

    /// Makes what is missing, each with mode 0700.
    static func make(_ path: String) throws(StorageError) {
        if mkdir(path, 0o700) == 0 { return try synchroniseParent(of: path) }
        if errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try make(String(path[..<slash]))
            if mkdir(path, 0o700) == 0 { return try synchroniseParent(of: path) }
        }
        guard errno == EEXIST else { throw StorageError(path, "can't be made", errno: errno) }
    }

    private static func synchroniseParent(of path: String) throws(StorageError) {
        let parent = open("\(path)/..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw StorageError(path, "can't be made on its device", errno: errno) }
    }

    private func path(_ name: String) -> String { "\(folder.path)/\(name)" }

    // MARK: Values

    /// Nil if there is none.
    func read(_ name: String) throws(StorageError) -> [UInt8]? {
        guard let file = try openFile(name, O_RDONLY) else { return nil }
        guard file.size <= FileStorage.maximumSize else {
            throw StorageError(
                .tooLarge, path(name), problem: "holds \(file.size) bytes, more than \(FileStorage.maximumSize)",
                remedy: "move it away: this store has not written it")
        }
        return try file.read()
    }

    /// Needs ``withLock(_:)``.
    func replace(_ name: String, with bytes: [UInt8]) throws(StorageError) {
        try removeTemporary()
        try checkReplaceable(name)
        let temporary = openat(
            folder.descriptor, Self.temporaryName, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard temporary >= 0 else { throw StorageError(folder.path, "no file can be made in it", errno: errno) }
        do throws(StorageError) {
            let file = try PrivateFile(temporary, .file, path: path(Self.temporaryName))
            try file.write(bytes)
            guard renameat(folder.descriptor, Self.temporaryName, folder.descriptor, name) == 0 else {
                throw StorageError(path(name), "can't be replaced", errno: errno)
            }
        } catch {
            unlinkat(folder.descriptor, Self.temporaryName, 0)
            throw error
        }
        try folder.synchronise()
    }

    /// Needs ``withLock(_:)``.
    func remove(_ name: String) throws(StorageError) {
        try removeTemporary()
        guard unlinkat(folder.descriptor, name, 0) == 0 else {
            guard errno == ENOENT else { throw StorageError(path(name), "can't be removed", errno: errno) }
            return
        }
        try folder.synchronise()
    }

    /// What a process left that was killed while it wrote. Whoever writes holds the lock: under it, no such file is in use.
    private func removeTemporary() throws(StorageError) {
        guard unlinkat(folder.descriptor, Self.temporaryName, 0) == 0 || errno == ENOENT else {
            throw StorageError(path(Self.temporaryName), "can't be removed", errno: errno)
        }
    }

    /// A link that somebody put there on purpose is not replaced behind their back.
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

    /// Nobody else who uses this folder writes meanwhile, in this process or another. The system lets go of the lock when a
    /// process dies.
    ///
    /// - Parameter patience: how long somebody else may keep it: one write takes some milliseconds.
    func withLock<Result>(
        patience: Duration = .seconds(10), _ body: (borrowing PrivateDirectory) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let lock = try lock(patience)
        defer { _ = flock(lock.descriptor, LOCK_UN) }
        return try body(self)
    }

    private func lock(_ patience: Duration) throws(StorageError) -> PrivateFile {
        let deadline = ContinuousClock.now + patience
        while true {
            guard let lock = try openFile(Self.lockName, O_RDWR | O_CREAT) else {
                throw StorageError(path(Self.lockName), "can't be made", errno: ENOENT)
            }
            while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
                guard errno == EWOULDBLOCK || errno == EINTR else {
                    throw StorageError(lock.path, "can't be locked", errno: errno)
                }
                guard ContinuousClock.now < deadline else {
                    throw StorageError(
                        .busy, lock.path, problem: "has been locked by another process for \(patience)",
                        remedy: "find it with: fuser '\(lock.path)'", systemCode: EWOULDBLOCK)
                }
                // A plain flock would wait without end for a process that was stopped.
                usleep(1000)
            }
            if isCurrent(lock) { return lock }
        }
    }

    /// False if somebody removed the file meanwhile: the next to come would make, and lock, another.
    private func isCurrent(_ lock: borrowing PrivateFile) -> Bool {
        var (own, named) = (stat(), stat())
        return fstat(lock.descriptor, &own) == 0
            && fstatat(folder.descriptor, Self.lockName, &named, AT_SYMLINK_NOFOLLOW) == 0
            && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }
}
