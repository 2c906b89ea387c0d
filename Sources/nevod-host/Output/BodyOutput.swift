import Glibc
import NevodHost

/// Where a response's body is written: standard output, a pipe or a device, or a file that appears under its name only once it
/// is complete. What reaches a terminal is made safe; everything else gets the bytes as they are.
struct BodyOutput: ~Copyable {
    /// The effect on an existing file.
    enum Placement {
        case replacing
        /// It stays, and writing fails.
        case exclusive
        /// It gets the body at its end, piece by piece.
        case appending
    }

    private enum Destination {
        case stream(FileDescriptor)
        case file(AtomicFile, path: String)
    }

    private let destination: Destination
    private let placement: Placement
    let isTerminal: Bool
    private var filter = TerminalFilter()
    /// Whether a terminal is spared what is not text.
    var refusesBinary = false
    /// Shows what is longer than the terminal; nil for anything but standard output at a terminal.
    var pager: Pager?
    private var checked = 0

    /// As curl: binary is a NUL in the pieces that begin in this many bytes.
    private static let mostChecked = 2000

    init(_ path: String?, _ placement: Placement = .replacing) throws(OutputError) {
        self.placement = placement
        destination = try Self.destination(path, placement)
        if case .stream(let file) = destination { isTerminal = isatty(file.number) == 1 } else { isTerminal = false }
    }

    private static func destination(_ path: String?, _ placement: Placement) throws(OutputError) -> Destination {
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
        if placement == .appending { return .stream(FileDescriptor(number: try open(path, O_APPEND | O_CREAT), name: path)) }
        if placement == .exclusive {
            guard lstat(path, &info) != 0 else { throw OutputError(path, EEXIST) }
            return .file(try createFile(path, mode: 0o666, named: path), path: path)
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

    private static func open(_ path: String, _ flags: Int32 = 0) throws(OutputError) -> Int32 {
        // A named pipe is opened when another program reads it.
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
            guard isTerminal else { return try file.write(bytes.span) }
            try show(filter.safe(bytes), file)
        case .file(let file, let path):
            do throws(AtomicFileError) { try file.write(bytes) } catch { throw OutputError(path, error.code) }
        }
    }

    /// Whether it is a file that appears when it is complete.
    var isFile: Bool { if case .file = destination { true } else { false } }

    /// Writes a piece of a response's body, unless it shows that the body is binary.
    mutating func writeBody(_ bytes: [UInt8]) throws {
        if refusesBinary, isTerminal, checked < Self.mostChecked {
            guard !bytes.contains(0) else { throw BinaryOutputError() }
            checked += bytes.count
        }
        try write(bytes)
    }

    /// Writes text of this program, such as colours, around what is safe already.
    mutating func writeSafe(_ bytes: [UInt8]) throws(OutputError) {
        guard case .stream(let file) = destination else { return try write(bytes) }
        try show(bytes, file)
    }

    private func show(_ bytes: [UInt8], _ file: FileDescriptor) throws(OutputError) {
        if let pager { try pager.write(bytes) } else { try file.write(bytes.span) }
    }

    /// Whether the rest need not be read, since the person has left the pager.
    var isClosed: Bool { pager?.isClosed ?? false }

    /// Reads the next piece of what is written here; nil at the end, and when the rest need not be read.
    func next(of pieces: HTTPResponseStream) async throws -> [UInt8]? {
        do {
            if let pager { return try await pager.next(of: pieces) }
            return try await pieces.next()
        } catch let error as TransportError where error.code == .connectionLost {
            throw BrokenBodyError(cause: error)
        }
    }

    /// Shows what was held back for a pager, before a failure is reported.
    ///
    /// - Parameter isTrusted: false for a response that was refused, of which nothing more is shown.
    func release(isTrusted: Bool) {
        guard let pager else { return }
        // The failure that is reported is the transfer's.
        if isTrusted { try? pager.finish() } else { pager.abandon() }
    }

    /// Puts the file under its name.
    mutating func finish() throws(OutputError) {
        switch destination {
        case .stream(let file):
            try show(filter.finish(), file)
            try pager?.finish()
        case .file(let file, let path):
            do throws(AtomicFileError) { try file.commit(placement == .exclusive ? .exclusively : .replacing) } catch {
                throw OutputError(path, error.code)
            }
        }
    }

    deinit {
        guard case .file(let file, _) = destination else { return }
        file.discard()
        Interruption.shared.end(file.temporaryPath)
    }
}
