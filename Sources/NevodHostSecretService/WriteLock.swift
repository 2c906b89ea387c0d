internal import Glibc
internal import NevodStorage

/// A lock among the processes of this user, since the service has neither locks nor conditional writes. The system releases it when
/// its holder dies.
struct WriteLock: Sendable {
    let path: String

    /// The path that all processes of this user share. It is independent of the environment, which differs for a cron job.
    ///
    /// - Parameter folders: The parent of the folders of logged-in users.
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

    /// The home folder in the system's user database.
    private static func home(of user: uid_t) -> String? {
        var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
        var buffer = [CChar](repeating: 0, count: 1 << 14)
        guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, let home = found?.pointee.pw_dir else { return nil }
        let path = String(cString: home)
        return path.hasPrefix("/") ? path : nil
    }

    /// Blocks the thread until the lock is taken.
    ///
    /// - Returns: the lock, which is released with this object.
    func take(_ deadline: CallDeadline) throws(StorageError) -> HeldLock {
        let file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw failure("can't be opened", errno) }
        let held = HeldLock(file)
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_uid == geteuid() else {
            throw StorageError(
                .permissions, path, problem: "is not a regular file of this user", remedy: "move away what is there")
        }
        while flock(file, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure("can't be locked", errno) }
            guard !deadline.hasExpired else {
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

/// A lock that is held until this is released.
final class HeldLock {
    private let file: Int32

    init(_ file: Int32) { self.file = file }

    deinit {
        close(file)
    }
}
