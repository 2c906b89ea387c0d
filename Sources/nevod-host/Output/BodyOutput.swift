import Glibc
import NevodHost
import NevodSupport

/// Where a response's body goes: standard output, a pipe or a device, or a file that gets its name only once it is complete. Text
/// for a terminal is made safe; everything else gets the unchanged bytes.
struct BodyOutput: ~Copyable {
    private let destination: OutputDestination
    private let placement: OutputDestination.Placement
    let isTerminal: Bool
    private var filter = TerminalFilter()
    /// Whether binary content is kept from a terminal.
    var refusesBinary = false
    private var binary = BinaryBody()
    /// Shows text that is longer than the terminal; nil for anything but standard output at a terminal.
    var pager: Pager?

    init(_ path: String?, _ placement: OutputDestination.Placement = .replacing) throws(OutputError) {
        self.placement = placement
        destination = try OutputDestination.chosen(path, placement)
        if case .stream(let file) = destination { isTerminal = isatty(file.number) == 1 } else { isTerminal = false }
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

    /// Writes a piece of a response's body, unless the piece shows that the body is binary.
    mutating func writeBody(_ bytes: [UInt8]) throws {
        if refusesBinary, isTerminal { try binary.check(bytes) }
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

    /// Whether the rest is unwanted, because the person has left the pager.
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
        // Ignores a failure of the pager, because the transfer's failure is reported.
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

/// Reports a connection that broke after a response's head had arrived, which shows that the server speaks HTTP.
struct BrokenBodyError: Error, CustomStringConvertible {
    let cause: TransportError

    var description: String { cause.description }
}
