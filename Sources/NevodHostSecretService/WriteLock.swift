internal import Glibc
internal import NevodHost

/// A lock among the processes of this user: the service has none, nor any write on a condition. The system lets go of it when a
/// process dies.
struct WriteLock: Sendable {
    let path: String

    /// Where this user's other processes look for it as well.
    ///
    /// - Throws: if neither `XDG_RUNTIME_DIR` nor `HOME` is set.
    static func defaultPath() throws(StorageError) -> String {
        if let folder = directory("XDG_RUNTIME_DIR") { return "\(folder)/nevod-secret-service" }
        if let folder = directory("HOME") { return "\(folder)/.nevod-secret-service" }
        throw StorageError(
            .unavailable, "the Secret Service", problem: "there is no place for a lock file: XDG_RUNTIME_DIR is not set",
            remedy: "set it, or give the path of a file")
    }

    private static func directory(_ variable: String) -> String? {
        getenv(variable).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
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
