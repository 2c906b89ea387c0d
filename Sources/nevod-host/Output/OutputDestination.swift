import Glibc
import NevodHost
import NevodSupport

/// The destination of a body or of another file. Decides what happens to an existing file: whether it may be replaced, whether
/// its permissions are kept, and where a link leads.
enum OutputDestination {
    case stream(FileDescriptor)
    case file(AtomicFile, path: String)

    /// The effect on an existing file.
    enum Placement {
        case replacing
        /// The file stays, and writing fails.
        case exclusive
        /// The body is appended to the file, piece by piece.
        case appending
    }

    /// Opens a stream, or begins a file beside the one that it will replace.
    static func chosen(_ path: String?, _ placement: Placement) throws(OutputError) -> OutputDestination {
        guard let path, path != "-" else { return .stream(.standardOutput) }
        if let number = OwnDescriptor.number(of: path) {
            guard OwnDescriptor.isWritable(number) else { throw OutputError(path, EBADF) }
            return .stream(FileDescriptor(number: number, name: path))
        }
        var info = stat()
        let exists = stat(path, &info) == 0
        // A symbolic link stays; its target is replaced.
        let target = exists ? canonicalPath(path) ?? path : path
        if exists, info.st_mode & S_IFMT != S_IFREG || target.hasPrefix("/proc/") || target.hasPrefix("/sys/") {
            // Devices, pipes and the kernel's files are written to, not replaced.
            return .stream(FileDescriptor(number: try open(path), name: path))
        }
        if placement == .appending { return .stream(FileDescriptor(number: try open(path, O_APPEND | O_CREAT), name: path)) }
        if placement == .exclusive {
            guard lstat(path, &info) != 0 else { throw OutputError(path, EEXIST) }
            return .file(try createFile(path, mode: 0o666, named: path), path: path)
        }
        guard exists else { return .file(try createFile(target, mode: 0o666, named: path), path: path) }
        // The system lets a process replace a file that it may not write, and lets root write any file. Refuses both.
        guard info.st_mode & 0o222 != 0 else { throw OutputError(path, EACCES) }
        guard access(path, W_OK) == 0 else { throw OutputError(path, errno) }
        // A download gets a new file's permissions, unless it replaces the user's own file, whose permissions it keeps. It
        // doesn't keep another user's permissions, which might let that user read the download.
        let isOwn = info.st_uid == geteuid()
        let file = try createFile(target, mode: isOwn ? 0o600 : 0o666, named: path)
        if isOwn { file.setMode(info.st_mode & 0o777) }
        return .file(file, path: path)
    }

    private static func open(_ path: String, _ flags: Int32 = 0) throws(OutputError) -> Int32 {
        // Opening a named pipe waits until another program opens it for reading.
        try Activity.during("opening \(path)") { () throws(OutputError) in
            let number = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | flags, 0o666)
            guard number >= 0 else { throw OutputError(path, errno) }
            return number
        }
    }

    private static func createFile(_ target: String, mode: UInt32, named path: String) throws(OutputError) -> AtomicFile {
        let prefix = temporaryPrefix(for: target)
        // Created and registered in one step, so that a signal between the two leaves nothing behind.
        let result = Interruption.shared.begin {
            (try? $0.get())?.temporaryPath ?? ""
        } _: { () -> (Result<AtomicFile, AtomicFileError>, Interruption.Undo?) in
            do throws(AtomicFileError) {
                let file = try AtomicFile.randomlyNamed(prefix, for: target, mode: mode)
                let temporaryPath = file.temporaryPath
                return (.success(file), { _ = unlink(temporaryPath) })
            } catch {
                return (.failure(error), nil)
            }
        }
        do throws(AtomicFileError) { return try result.get() } catch { throw OutputError(path, error.code) }
    }

    /// Returns the file's name and `.part.`. Long names are cut, so that the rest fits into the file system's limit (255 bytes).
    static func temporaryPrefix(for target: String) -> String {
        let start = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { target.utf8.index(after: $0) } ?? target.startIndex
        let name = target.utf8[start...]
        guard name.count > 200 else { return "\(target).part." }
        var end = name.index(start, offsetBy: 200)
        while end > start, name[end] & 0xC0 == 0x80 { end = name.index(before: end) }
        return "\(target[..<end]).part."
    }
}
