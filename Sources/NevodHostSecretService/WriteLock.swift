internal import Glibc
internal import NevodStorage

/// A lock among this user's processes. It is needed because the service has neither locks nor conditional writes.
struct WriteLock: Sendable {
    let path: String

    /// The path that all processes of this user share. It doesn't depend on the environment, which differs for a cron job.
    ///
    /// - Parameter folders: The parent of the folders of logged-in users.
    /// - Throws: an error if the user has neither such a folder nor a home.
    static func defaultPath(of user: uid_t = geteuid(), in folders: String = "/run/user") throws(StorageError) -> String {
        let folder = "\(folders)/\(user)"
        var info = stat()
        if lstat(folder, &info) == 0, info.st_mode & S_IFMT == S_IFDIR, info.st_uid == user {
            return "\(folder)/nevod-secret-service"
        }
        if let home = home(of: user) { return "\(home)/.nevod-secret-service" }
        throw StorageError(
            .unavailable, "the Secret Service",
            problem: "there is no place for a lock file: the user has neither \(folder) nor a home folder",
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
    func take(until deadline: ContinuousClock.Instant) throws(StorageError) -> FileLock {
        try FileLock(path, until: deadline)
    }
}
