import Glibc
import NevodHost
import NevodSupport

/// Where the store is: at `--store`, `NEVOD_HOST_STORE`, or the default path in the home folder.
extension SessionStore {
    /// The path of `--store` or of the environment; nil for the default.
    static func givenPath(_ arguments: Arguments) -> String? {
        guard let path = arguments.value(.store) ?? environment("NEVOD_HOST_STORE"), !path.isEmpty else { return nil }
        return path
    }

    static func path(_ arguments: Arguments, _ given: String?) throws -> String {
        if let path = given {
            guard isServer(path) else { return try absolutePath(path) }
            try checkServer(path, arguments.has(.store) ? "--store" : "NEVOD_HOST_STORE")
            return path
        }
        guard let folder = HomeFolder.folder("XDG_DATA_HOME", ".local/share") else {
            let without = [.request, .sign].contains(arguments.command) ? ", or --no-store" : ""
            throw UsageError("there is no home directory to keep sessions in; give --store PATH\(without)")
        }
        return "\(folder)/nevod-host/sessions.db"
    }

    /// Whether a path is the address of a PostgreSQL server.
    static func isServer(_ text: String) -> Bool {
        text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
    }

    /// Refuses an address with a password: messages show the address, and other processes can read it.
    ///
    /// - Parameter source: the flag or variable that holds the address.
    private static func checkServer(_ text: String, _ source: String) throws {
        let authority = text.split(separator: "/", omittingEmptySubsequences: false)[2]
        let user = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast().joined(separator: "@")
        guard !user.utf8.contains(UInt8(ascii: ":")), !text.contains("password=") else {
            throw UsageError(
                "\(source) contains a password, which messages would show, and which other processes can read in a command line; "
                    + "put it into a password file (PGPASSFILE) or a service file")
        }
    }

    /// Refuses to create folders in another user's home, as could happen with `sudo`, which may keep `HOME`. The folders would
    /// belong to this process's user, and the home's owner could no longer use them.
    static func checkOwner(_ paths: [String]) throws {
        for path in paths {
            var folder = Substring(path)
            var info = stat()
            repeat {
                folder = folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex)
            } while !folder.isEmpty && stat(String(folder), &info) != 0
            guard !folder.isEmpty, info.st_uid != 0, info.st_uid != geteuid() else { continue }
            throw StorageError(
                .permissions, String(folder),
                problem: "belongs to another user (uid \(info.st_uid)), and the store would be made in it for uid \(geteuid())",
                remedy: "run as that user, set HOME to your own home (sudo -H), or give --store PATH")
        }
    }
}

/// The path of a store's file, as given.
struct StorePath {
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    /// Refuses anything but a regular file.
    func check() throws(StorageError) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT != S_IFREG else { return }
        let isFolder = info.st_mode & S_IFMT == S_IFDIR
        throw StorageError(
            .unavailable, path, problem: isFolder ? "is a folder" : "is not a regular file",
            remedy: isFolder ? "name a file in it: \(path)/sessions.db" : "give the path of a file")
    }

    /// Replaces an error about a file's mode if the file isn't a store: the chmod that it advises would give this program access
    /// to another program's file. Reads the file only after a failure, because closing it would drop the locks of an open store.
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

    /// Adds to the error about a lost key how to start without the sessions.
    func startingAnew(after error: StorageError) -> StorageError {
        let files = ["", "-wal", "-shm", "-changes"].map { ShellWord.quoted(path + $0) }.joined(separator: " ")
        let anew = "to start anew, without the sessions: rm -f \(files), and then: nevod-host login"
        return StorageError(
            error.code, error.subject, problem: error.problem, remedy: (error.remedy.map { "\($0); or, " } ?? "") + anew,
            systemCode: error.systemCode)
    }
}
