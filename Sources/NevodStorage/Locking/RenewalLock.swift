internal import Glibc
internal import NevodSupport

/// One byte of a file, locked for this open file description: it excludes other threads of the process too.
final class RenewalLock: Sendable {
    private let path: String
    private let offset: Int
    private let descriptor: Locked<Int32?>

    init(_ path: String, offset: Int) throws(StorageError) {
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        _ = try PrivateFile.check(file, .file, path: path)
        self.path = path
        self.offset = offset
        descriptor = Locked(file)
    }

    deinit {
        release()
    }

    /// Doesn't wait.
    ///
    /// - Returns: false if the lock is held.
    func take() throws(StorageError) -> Bool {
        if set(Self.setLock) { return true }
        guard errno == EAGAIN || errno == EACCES else { throw StorageError(path, "can't be locked", errno: errno) }
        return false
    }

    /// Blocks the thread until the lock is taken.
    func takeWaiting() throws(StorageError) {
        while !set(Self.setLockWaiting) {
            guard errno == EINTR else { throw StorageError(path, "can't be locked", errno: errno) }
        }
    }

    /// False if the file was removed meanwhile: the next process would create and lock another one.
    var isCurrent: Bool {
        guard let file = descriptor.withLock(\.self) else { return false }
        var (own, named) = (stat(), stat())
        return fstat(file, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    private func set(_ command: Int32) -> Bool {
        guard let file = descriptor.withLock(\.self) else { return false }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = offset
        lock.l_len = 1
        return fcntl(file, command, &lock) == 0
    }

    func release() {
        descriptor.withLock { file in
            if let file { close(file) }
            file = nil
        }
    }

    // F_OFD_SETLK and F_OFD_SETLKW, which <fcntl.h> defines for GNU sources only: locks of an open file description, not of the
    // process.
    private static let setLock: Int32 = 37
    private static let setLockWaiting: Int32 = 38
}
