import Glibc
import NevodHost
import NevodSupport

/// Where a response's body goes: standard output, a pipe or a device, or a file that gets its name only once it is complete. Text
/// for a terminal is made safe; everything else gets the unchanged bytes.
struct BodyOutput: ~Copyable {
    /// The effect on an existing file.
    enum Placement {
        case replacing
        /// The file stays, and writing fails.
        case exclusive
        /// The body is appended to the file, piece by piece.
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
    /// Whether binary content is kept from a terminal.
    var refusesBinary = false
    /// Shows text that is longer than the terminal; nil for anything but standard output at a terminal.
    var pager: Pager?
    private var checked = 0

    /// As in curl, a body is binary if one of the pieces that begin in this many bytes contains a NUL.
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
        // The system lets a process replace a file that it may not write, and root write any file: refuse both.
        guard info.st_mode & 0o222 != 0 else { throw OutputError(path, EACCES) }
        guard access(path, W_OK) == 0 else { throw OutputError(path, errno) }
        // A download gets a new file's permissions, unless it replaces the user's own file: then it keeps that file's. Other
        // users choose the permissions of their files so that they can read them.
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

    /// Returns the file's name and `.part.`. Long names are cut, so that the rest fits into the file system's limit (255 bytes).
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

    /// Whether the destination is a file that appears once it is complete.
    var isFile: Bool { if case .file = destination { true } else { false } }

    /// Writes a piece of a response's body, unless it shows that the body is binary.
    mutating func writeBody(_ bytes: [UInt8]) throws {
        if refusesBinary, isTerminal, checked < Self.mostChecked {
            guard !bytes.contains(0) else { throw BinaryOutputError() }
            checked += bytes.count
        }
        try write(bytes)
    }

    /// Writes text that is safe already, with colours of this program.
    mutating func writeSafe(_ bytes: [UInt8]) throws(OutputError) {
        guard case .stream(let file) = destination else { return try write(bytes) }
        try show(bytes, file)
    }

    private func show(_ bytes: [UInt8], _ file: FileDescriptor) throws(OutputError) {
        if let pager { try pager.write(bytes) } else { try file.write(bytes.span) }
    }

    /// Whether the rest is unwanted, since the person has left the pager.
    var isClosed: Bool { pager?.isClosed ?? false }

    /// Reads the next piece to write; nil at the end, and when the rest is unwanted.
    func next(of pieces: HTTPResponseStream) async throws -> [UInt8]? {
        do {
            if let pager { return try await pager.next(of: pieces) }
            return try await pieces.next()
        } catch let error as TransportError where error.code == .connectionLost {
            throw BrokenBodyError(cause: error)
        }
    }

    /// Shows the text that was held back for a pager, before a failure is reported.
    ///
    /// - Parameter isTrusted: false for a refused response. Nothing more of it is shown.
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

/// Reports a binary body that was about to be written to a terminal.
struct BinaryOutputError: Error, CustomStringConvertible {
    var description: String {
        "the response is binary, so it isn't shown at a terminal; write -o FILE to save it, or -o - to show it with control "
            + "characters escaped"
    }
}

/// Reports a connection that broke after a response's head had arrived. The server does speak HTTP there.
struct BrokenBodyError: Error, CustomStringConvertible {
    let cause: TransportError

    var description: String { cause.description }
}
