internal import Glibc
internal import NevodStorage

/// A lock among the processes of this user: the service has none, nor any write on a condition. The system lets go of it when a
/// process dies.
struct WriteLock: Sendable {
    let path: String

    /// Where this user's other processes look for it as well, whatever their environment is: that of a job of cron is not the
    /// desktop's.
    ///
    /// - Parameter folders: with one for each user who is logged in.
    /// - Throws: if the user has neither such a folder nor a home.
    static func defaultPath(of user: uid_t = geteuid(), in folders: String = "/run/user") throws(StorageError) -> String {
        let folder = "\(folders)/\(user)"
        var info = stat()
        if lstat(folder, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == user {
            return "\(folder)/nevod-secret-service"
        }
        if let home = home(of: user) { return "\(home)/.nevod-secret-service" }
        throw StorageError(
            .unavailable, "the Secret Service",
            problem: "there is no place for a lock file: the user has neither \(folder) nor a home",
            remedy: "give the path of a file")
    }

    /// As the system's list of users has it.
    private static func home(of user: uid_t) -> String? {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, let home = found?.pointee.pw_dir else { return nil }
        let path = String(cString: home)
        return path.hasPrefix("/") ? path : nil
    }

    /// Blocks the thread.
    ///
    /// - Returns: let go of, the lock is free.
    func take(_ limit: CallLimit) throws(StorageError) -> HeldLock {
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("can't be opened", errno) }
        let held = HeldLock(file)
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid() else {
            throw StorageError(
                .permissions, path, problem: "is not a file of this user's", remedy: "move away what is there")
        }
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("can't be locked", errno) }
            guard !limit.isOver else {
                throw StorageError(
                    .busy, path, problem: "has been locked by another process for too long",
                    remedy: "find it with: fuser '\(path)'", systemCode: EWOULDBLOCK)
            }
            usleep(1000)
        }
        return held
    }

    private func failure(_ action: String, _ number: Int32) -> StorageError {
        StorageError(
            .unavailable, path, problem: "\(action): \(String(cString: strerror(number)))", systemCode: number)
    }
}

final class HeldLock {
    private let file: Int32

    init(_ file: Int32) { self.file = file }

    deinit {
        close(file)
    }
}
