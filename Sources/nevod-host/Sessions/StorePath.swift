import Glibc
import NevodHost

/// The path of a store's file, as it was given.
struct StorePath {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Refuses a folder, and a device.
    func check() throws(StorageError) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT != S_IFREG else { return }
        let isFolder = info.st_mode & S_IFMT == S_IFDIR
        throw StorageError(
            .unavailable, path, problem: isFolder ? "is a folder" : "is not a regular file",
            remedy: isFolder ? "name a file in it: \(path)/sessions.db" : "give the path of a file")
    }

    /// Returns the error for a file that is no store in place of the one about its mode: a chmod would open another program's file to
    /// this one. Reads the file only after a failure, since closing it would drop the locks of an open store.
    func explaining(_ error: StorageError) -> StorageError {
        guard error.code == .permissions, error.subject == path else { return error }
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return error }
        defer { close(file) }
        let magic = Array("SQLite format 3\0".utf8)
        var head = [UInt8](repeating: 0, count: magic.count)
        guard pread(file, &head, head.count, 0) > 0, head != magic else { return error }
        return StorageError(
            .permissions, path, problem: "is not a store of sessions", remedy: "give another path, where there is no file yet")
    }

    /// Adds to the error of a key that is lost how to do without the sessions.
    func startingAnew(after error: StorageError) -> StorageError {
        let files = ["", "-wal", "-shm", "-changes"].map { ShellWord.quoted(path + $0) }.joined(separator: " ")
        let anew = "to start anew, without the sessions: rm -f \(files), and then: nevod-host login"
        return StorageError(
            error.code, error.subject, problem: error.problem, remedy: (error.remedy.map { "\($0); or, " } ?? "") + anew,
            systemCode: error.systemCode)
    }
}
