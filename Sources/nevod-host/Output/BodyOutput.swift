import Glibc
import NevodHost

/// Where a response's body is written: standard output, a pipe or a device, or a file that appears under its name only once it
/// is complete. What reaches a terminal is made safe; everything else gets the bytes as they are.
struct BodyOutput: ~Copyable {
    private enum Destination {
        case stream(FileDescriptor)
        case file(AtomicFile, path: String)
    }

    private let destination: Destination
    let isTerminal: Bool
    private var filter = TerminalFilter()

    init(_ path: String?) throws(OutputError) {
        destination = try Self.destination(path)
        if case .stream(let file) = destination { isTerminal = isatty(file.number) == 1 } else { isTerminal = false }
    }

    private static func destination(_ path: String?) throws(OutputError) -> Destination {
        guard let path, path != "-" else { return .stream(.standardOutput) }
        if let number = OwnDescriptor.number(of: path) {
            guard OwnDescriptor.isWritable(number) else { throw OutputError(path, EBADF) }
            return .stream(FileDescriptor(number: number, name: path))
        }
        var info = stat()
        let exists = stat(path, &info) == 0
        // A symbolic link stays, and the file that it points to is replaced.
        let target = exists ? canonicalPath(path) ?? path : path
        if exists, info.st_mode & S_IFMT != S_IFREG || target.hasPrefix("/proc/") || target.hasPrefix("/sys/") {
            // Devices, pipes and the kernel's files are written to, not replaced.
            return .stream(FileDescriptor(number: try open(path), name: path))
        }
        guard exists else { return .file(try createFile(target, mode: 0o666, named: path), path: path) }
        // Replacing a file needs no leave to write to it, and root needs none for anything.
        guard info.st_mode & 0o222 != 0 else { throw OutputError(path, EACCES) }
        guard access(path, W_OK) == 0 else { throw OutputError(path, errno) }
        // A download gets the permissions of any new file, or those of the user's own file that it replaces: other users choose
        // theirs so that they can read it.
        let isOwn = info.st_uid == geteuid()
        let file = try createFile(target, mode: isOwn ? 0o600 : 0o666, named: path)
        if isOwn { file.setMode(info.st_mode & 0o777) }
        return .file(file, path: path)
    }

    private static func open(_ path: String) throws(OutputError) -> Int32 {
        // A named pipe is opened when another program reads it.
        try Activity.during("opening \(path)") { () throws(OutputError) in
            let number = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
            guard number >= 0 else { throw OutputError(path, errno) }
            return number
        }
    }

    private static func createFile(_ target: String, mode: UInt32, named path: String) throws(OutputError) -> AtomicFile {
        let prefix = temporaryPrefix(for: target)
        // Created and registered in one step, so that a signal between the two leaves nothing behind.
        let result = Interruption.shared.begin { () -> (Result<AtomicFile, AtomicFileError>, Interruption.Undo?) in
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

    /// The file's name and `.part.`, cut so that a name of any length that the file system allows (255 bytes) has room for the rest.
    static func temporaryPrefix(for target: String) -> String {
        let start = target.utf8.lastIndex(of: UInt8(ascii: "/")).map { target.utf8.index(after: $0) } ?? target.startIndex
        let name = target.utf8[start...]
        guard name.count > 200 else { return "\(target).part." }
        var end = name.index(start, offsetBy: 200)
        while end > start, name[end] & 0xC0 == 0x80 { end = name.index(before: end) }
        return "\(target[..<end]).part."
    }

    mutating func write(_ bytes: [UInt8]) throws(OutputError) {
        switch destination {
        case .stream(let file):
            let shown = isTerminal ? filter.safe(bytes) : bytes
            try file.write(shown.span)
        case .file(let file, let path):
            do throws(AtomicFileError) { try file.write(bytes) } catch { throw OutputError(path, error.code) }
        }
    }

    /// Writes text of this program, such as colours, around what is safe already.
    mutating func writeSafe(_ bytes: [UInt8]) throws(OutputError) {
        guard case .stream(let file) = destination else { return try write(bytes) }
        try file.write(bytes.span)
    }

    /// Puts the file under its name.
    mutating func finish() throws(OutputError) {
        switch destination {
        case .stream(let file):
            let rest = filter.finish()
            try file.write(rest.span)
        case .file(let file, let path):
            do throws(AtomicFileError) { try file.commit() } catch { throw OutputError(path, error.code) }
        }
    }

    deinit {
        guard case .file(let file, _) = destination else { return }
        file.discard()
        Interruption.shared.end()
    }
}
