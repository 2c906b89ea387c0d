internal import Glibc

/// An exclusive lock of a file that only this user can access. It excludes other processes, and other holders in this process. It
/// is released with this object; if the process dies, the system releases it.
package final class FileLock {
    private let file: PrivateFile

    /// - Parameter path: The file, created with mode 0600 if it is missing.
    package convenience init(_ path: String, until deadline: ContinuousClock.Instant) throws(StorageError) {
        try self.init(path, in: nil, until: deadline)
    }

    /// Blocks the thread until the lock is taken.
    ///
    /// - Throws: ``StorageError`` of code `busy` at the deadline.
    init(_ name: String, in folder: PrivateFile.Folder?, until deadline: ContinuousClock.Instant) throws(StorageError) {
        file = try Self.locked(name, folder, deadline)
    }

    deinit {
        // Unlocks explicitly: if the file were only closed, a child process that is just being started would keep the lock.
        _ = flock(file.descriptor, LOCK_UN)
    }

    private static func locked(
        _ name: String, _ folder: PrivateFile.Folder?, _ deadline: ContinuousClock.Instant
    ) throws(StorageError) -> PrivateFile {
        while true {
            let file = try PrivateFile.created(name, in: folder)
            try lock(file, until: deadline)
            // Checks that the file wasn't removed meanwhile: the next process would create and lock another one.
            let isCurrent = FileIdentity(file.descriptor)?.isSame(as: FileIdentity(at: name, in: folder?.descriptor))
            if isCurrent == true { return file }
        }
    }

    private static func lock(_ file: borrowing PrivateFile, until deadline: ContinuousClock.Instant) throws(StorageError) {
        while flock(file.descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw StorageError(file.path, "can't be locked", errno: errno) }
            guard ContinuousClock.now < deadline else {
                throw StorageError(
                    .busy, file.path, problem: "is locked by another process", remedy: "find it with: fuser '\(file.path)'",
                    systemCode: EWOULDBLOCK)
            }
            // A blocking flock would wait forever for a suspended process.
            usleep(1000)
        }
    }
}

/// Identifies a file, whatever its name is now.
struct FileIdentity: Sendable {
    private let device: dev_t
    private let number: ino_t
    let size: off_t

    /// The file at a path; a symbolic link is not followed. Nil if there is no such file.
    ///
    /// - Parameter folder: An open folder, which the path is relative to; nil for the working directory.
    init?(at path: String, in folder: Int32? = nil) {
        var info = stat()
        guard fstatat(folder ?? AT_FDCWD, path, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        self.init(info)
    }

    /// An open file. Nil if it can't be examined.
    init?(_ descriptor: Int32) {
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return nil }
        self.init(info)
    }

    private init(_ info: stat) {
        (device, number, size) = (info.st_dev, info.st_ino, info.st_size)
    }

    /// Whether both are the same file, whatever their sizes.
    func isSame(as other: FileIdentity?) -> Bool { device == other?.device && number == other?.number }
}
