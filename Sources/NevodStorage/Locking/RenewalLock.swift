internal import Glibc
internal import NevodSupport

/// One byte of a file, locked for this open file description: it excludes other threads of the process too.
///
/// The file may be removed while a process holds a lock in it. Another process must not make a new one then, and take the same lock
/// there. So each holder has a shared lock on a second file or folder, the guard, and a process that finds no lock file takes the guard
/// for itself alone before it makes one: it waits until no lock of the removed file is held.
final class RenewalLock: Sendable {
    private let path: String
    private let guardPath: String?
    private let offset: Int
    private let files = Locked(Files())

    private struct Files {
        var locked: Int32?
        var guarding: Int32?
    }

    /// - Parameter guardPath: A file or folder that only this user can open; nil for none.
    init(_ path: String, offset: Int, guardedBy guardPath: String?) {
        self.path = path
        self.offset = offset
        self.guardPath = guardPath
    }

    deinit {
        release()
    }

    /// - Parameter waiting: Whether to block the thread until the lock is taken.
    /// - Returns: false if it is held, and this doesn't wait.
    func take(waiting: Bool) throws(StorageError) -> Bool {
        while true {
            guard try openFile(waiting), try lockByte(waiting) else {
                release()
                return false
            }
            if isCurrent { return true }
            release()
        }
    }

    /// False if the file was removed meanwhile: the next process would create and lock another one.
    private var isCurrent: Bool {
        guard let file = files.withLock(\.locked) else { return false }
        var (own, named) = (stat(), stat())
        return fstat(file, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino && own.st_dev == named.st_dev
    }

    // MARK: The file

    /// - Returns: false if another process has to finish first.
    private func openFile(_ waiting: Bool) throws(StorageError) -> Bool {
        let guarding = try openGuard()
        files.withLock { $0.guarding = guarding }
        guard try lockGuard(LOCK_SH, waiting) else { return false }
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        var file = open(path, flags)
        if file < 0, errno == ENOENT {
            // Gives up the shared lock first, as all who get here do, so that none waits for another.
            guard try lockGuard(LOCK_EX, waiting) else { return false }
            file = open(path, flags | O_CREAT, 0o600)
            let number = errno
            guard try lockGuard(LOCK_SH, true) else { return false }
            errno = number
        }
        guard file >= 0 else { throw StorageError(path, "can't be opened", errno: errno) }
        _ = try PrivateFile.check(file, .file, path: path)
        files.withLock { $0.locked = file }
        return true
    }

    /// - Returns: nil if there is no guard, or if others could hold it forever.
    private func openGuard() throws(StorageError) -> Int32? {
        guard let guardPath else { return nil }
        let file = open(guardPath, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_uid == geteuid(), info.st_mode & 0o077 == 0 else {
            close(file)
            return nil
        }
        return file
    }

    private func lockGuard(_ kind: Int32, _ waiting: Bool) throws(StorageError) -> Bool {
        guard let guarding = files.withLock(\.guarding) else { return true }
        while flock(guarding, waiting ? kind : kind | LOCK_NB) != 0 {
            if errno == EINTR { continue }
            guard errno == EWOULDBLOCK else { throw StorageError(guardPath ?? path, "can't be locked", errno: errno) }
            return false
        }
        return true
    }

    // MARK: The byte

    private func lockByte(_ waiting: Bool) throws(StorageError) -> Bool {
        while !set(waiting ? Self.setLockWaiting : Self.setLock) {
            if waiting, errno == EINTR { continue }
            guard !waiting, errno == EAGAIN || errno == EACCES else {
                throw StorageError(path, "can't be locked", errno: errno)
            }
            return false
        }
        return true
    }

    private func set(_ command: Int32) -> Bool {
        guard let file = files.withLock(\.locked) else { return false }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = offset
        lock.l_len = 1
        return fcntl(file, command, &lock) == 0
    }

    func release() {
        files.withLock { files in
            for file in [files.locked, files.guarding] {
                if let file { close(file) }
            }
            files = Files()
        }
    }

    // F_OFD_SETLK and F_OFD_SETLKW, which <fcntl.h> defines for GNU sources only: locks of an open file description, not of the
    // process.
    private static let setLock: Int32 = 37
    private static let setLockWaiting: Int32 = 38
}
