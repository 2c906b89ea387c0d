import Glibc
import NevodSupport

/// Standard input, output and error of a process that was started without one of them.
enum StandardDescriptors {
    /// O_PATH, which glibc declares for GNU sources only. The value is the same on all processors.
    private static let pathOnly: Int32 = 0o10_000_000

    /// Opens those descriptors that are closed. Otherwise the next file or socket would get the number, and a response's body
    /// would be written into it. Call before anything else is opened, even by libraries.
    ///
    /// The placeholder can't be read or written (EBADF), so a closed output is an error, as in other programs. Unlike /dev/null,
    /// it can't be opened again under the name /dev/stdout either.
    static func open() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
            // `open` takes the lowest free number, and all numbers below are open. Without the placeholder, going on isn't safe.
            guard Glibc.open("/", pathOnly) == number else { _exit(ExitCode.write) }
        }
    }
}

/// The system's names for the process's own descriptors: `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`, and links to them.
/// Opening such a name again would write from the start of a file that another program is appending to.
enum OwnDescriptor {
    /// Returns the descriptor that a path names; nil if it names none.
    static func number(of path: String) -> Int32? {
        var path = path
        // As many links as Linux follows.
        for _ in 0..<40 {
            if let number = named(path) { return number }
            guard let target = target(ofLink: path) else { return nil }
            path = target.hasPrefix("/") ? target : folder(of: path) + target
        }
        return nil
    }

    /// Whether a descriptor is writable and was opened for this process by its parent: other descriptors close on exec.
    static func isWritable(_ number: Int32) -> Bool {
        let mode = fcntl(number, F_GETFL)
        guard mode >= 0, mode & O_ACCMODE != O_RDONLY else { return false }
        guard number > STDERR_FILENO else { return true }
        var info = stat()
        guard fcntl(number, F_GETFD) & FD_CLOEXEC == 0, fstat(number, &info) == 0 else { return false }
        return [S_IFREG, S_IFIFO, S_IFCHR].contains(info.st_mode & S_IFMT)
    }

    private static func named(_ path: String) -> Int32? {
        for folder in ["/dev/fd/", "/proc/self/fd/", "/proc/thread-self/fd/", "/proc/\(getpid())/fd/"]
        where path.hasPrefix(folder) {
            let digits = path.utf8.dropFirst(folder.utf8.count)
            return digits.count <= 9 ? Int32(digits: digits) : nil
        }
        return nil
    }

    private static func target(ofLink path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        guard count > 0, count < bytes.count else { return nil }
        return String(validating: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the folder with its slash; empty for a name in the working directory.
    private static func folder(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(decoding: path.utf8[...$0], as: UTF8.self) } ?? ""
    }
}
