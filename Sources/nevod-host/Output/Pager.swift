import Glibc
import NevodHost
import NevodProcesses
import NevodSupport

/// Shows text in a pager if it is longer than the terminal, and directly otherwise. Keeps at most one screen in memory, and keeps
/// it no longer than ``patience`` while nothing arrives.
final class Pager {
    private enum State {
        /// The text may still fit.
        case collecting
        case running(Subprocess)
        /// The person has left the pager.
        case closed
        case direct
    }

    private let command: PagerCommand
    private let terminal: FileDescriptor
    private let size: (rows: Int, columns: Int)
    private var state = State.collecting
    private var kept: [UInt8] = []
    private var screen = ScreenRows()
    private let departure = PagerDeparture()

    /// The longest wait for more text while some is kept.
    private static let patience = Duration.seconds(1)

    init(_ command: PagerCommand, terminal: FileDescriptor) {
        self.command = command
        self.terminal = terminal
        size = (TerminalSize.rows(of: terminal.number), TerminalSize.columns(of: terminal.number))
    }

    /// Whether the person has left the pager, so that nothing more is shown.
    var isClosed: Bool { if case .closed = state { true } else { departure.hasLeft } }

    /// Reads the next piece to show. Returns nil at the end, and as soon as the person has left the pager, which cancels the
    /// read. If the piece takes long, shows the kept text meanwhile.
    func next(of pieces: HTTPResponseStream) async throws -> [UInt8]? {
        switch state {
        case .closed: return nil
        case .direct: return try await pieces.next()
        case .collecting, .running: break
        }
        let read = Task { try await pieces.next() }
        departure.begin(read)
        defer { departure.end() }
        let piece = try await withTaskCancellationHandler {
            // If the terminal can't be written to, the next write fails as well.
            if !kept.isEmpty, await Self.takesLong(read) { try? show() }
            do { return try await read.value } catch {
                // Leaving the pager cancels the read. That isn't a failure.
                guard departure.hasLeft else { throw error }
                return nil
            }
        } onCancel: {
            read.cancel()
        }
        return departure.hasLeft ? nil : piece
    }

    private static func takesLong(_ read: Task<[UInt8]?, any Error>) async -> Bool {
        let (events, event) = AsyncStream.makeStream(of: Bool.self)
        let timer = Task {
            try await Task.sleep(for: patience)
            event.yield(true)
        }
        Task {
            _ = await read.result
            event.yield(false)
        }
        defer { timer.cancel() }
        var iterator = events.makeAsyncIterator()
        return await iterator.next() ?? false
    }

    /// Writes text that is safe for a terminal.
    func write(_ text: [UInt8]) throws(OutputError) {
        switch state {
        case .collecting:
            kept += text
            screen.add(text, columns: size.columns)
            // One row is for the shell's prompt.
            guard screen.rows >= size.rows else { return }
            state = start()
            let all = kept
            kept = []
            try write(all)
        case .running(let pager):
            guard !departure.hasLeft else { return close() }
            let input = FileDescriptor(number: pager.pipe(STDIN_FILENO), name: "the pager")
            do throws(OutputError) { try input.write(text.span) } catch {
                guard error.isBrokenPipe else { throw error }
                close()
            }
        case .closed: break
        case .direct: try terminal.write(text.span)
        }
    }

    /// Shows the rest, and waits until the person leaves the pager.
    func finish() throws(OutputError) {
        try show()
        close()
    }

    /// Drops the text that was not shown yet, and waits until the person leaves the pager.
    func abandon() {
        kept = []
        close()
    }

    /// Shows the kept text, without a pager.
    private func show() throws(OutputError) {
        guard case .collecting = state else { return }
        state = .direct
        let all = kept
        kept = []
        try write(all)
    }

    deinit { close() }

    /// Ends the pager's input, and waits for the pager.
    private func close() {
        guard case .running(let pager) = state else { return }
        state = .closed
        pager.closePipe(STDIN_FILENO)
        pager.wait()
        Interruption.shared.leaveInterruptsToPager(false)
    }

    /// Starts the command with a pipe for its standard input. If that fails, the text is written directly.
    private func start() -> State {
        let environment = PagerCommand.environment(Subprocess.Environment.entries)
        guard let program = ProgramSearch.path(of: command.words[0]),
            let pager = try? Subprocess(program, command.words, environment: .only(environment), input: .pipe)
        else { return .direct }
        Interruption.shared.leaveInterruptsToPager(true)
        departure.watch(pager)
        return .running(pager)
    }
}

extension ResponseWriter {
    /// Returns a pager for a document that a person reads: one of known length, or formatted JSON. A streamed body is shown as it
    /// comes. With `--max-time` there is no pager, because reading takes time.
    func pager(for response: HTTPResponse, _ isTerminal: Bool) -> Pager? {
        guard turn == nil, isTerminal, !arguments.has(.output), !arguments.has(.noBuffer), !arguments.has(.noPager),
            !arguments.has(.maxTime), !arguments.has(.headOnly),
            environment("TERM") != "dumb", response.mediaType.flatMap(RecordStream.Kind.init) == nil,
            response.isJSON || response.headers.contains("Content-Length")
        else { return nil }
        return PagerCommand { trustedEnvironment($0) }.map { Pager($0, terminal: .standardOutput) }
    }
}

/// Notices that a pager has ended while the command waits for a silent server. Ends that wait, and gives Ctrl-C back to the
/// command.
final class PagerDeparture: Sendable {
    private struct State {
        var hasLeft = false
        /// The read in progress.
        var read: Task<[UInt8]?, any Error>?
    }

    private let state = Locked(State())

    /// Whether the pager has ended.
    var hasLeft: Bool { state.withLock(\.hasLeft) }

    /// Registers a read, to be cancelled when the pager ends.
    func begin(_ read: Task<[UInt8]?, any Error>) {
        let hasLeft = state.withLock { state in
            state.read = read
            return state.hasLeft
        }
        if hasLeft { read.cancel() }
    }

    func end() {
        state.withLock { $0.read = nil }
    }

    /// Waits on a separate thread until the pager has ended.
    func watch(_ pager: Subprocess) {
        SystemThread.start { [self] in
            pager.wait()
            Interruption.shared.leaveInterruptsToPager(false)
            let read = state.withLock { state in
                state.hasLeft = true
                return state.read
            }
            read?.cancel()
        }
    }
}

/// The program that shows text that is longer than the terminal.
struct PagerCommand: Equatable {
    let words: [String]

    /// Takes `NEVOD_PAGER`, or else `PAGER`, or else `less`. Returns nil, for no pager, if it is empty or `cat`.
    ///
    /// - Parameter variable: returns a variable of the environment.
    init?(_ variable: (String) -> String?) {
        let text = variable("NEVOD_PAGER") ?? variable("PAGER") ?? "less"
        let plain = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard !plain.isEmpty, plain != ["cat"] else { return nil }
        // By POSIX, a shell interprets PAGER. A shell is needed only if the value has quotes or other special characters.
        words = text.utf8.contains(where: Array("'\"\\$`|&;<>()*?[]#~={}!".utf8).contains) ? ["sh", "-c", text] : plain
    }

    /// Returns the variables that a pager needs. Others may hold secrets, since settings are read from `env:VARIABLE`.
    static func environment(_ all: [String]) -> [String] {
        let kept = all.filter { entry in
            let name = entry.prefix { $0 != "=" }
            return names.contains(String(name)) || prefixes.contains { name.hasPrefix($0) }
        }
        // As in git: colours, no clearing of the screen, and an immediate exit if everything fits.
        let defaults = ["LESS=FRX", "LV=-c"].filter { given in
            !kept.contains { $0.hasPrefix(given.prefix { $0 != "=" } + "=") }
        }
        return kept + defaults
    }

    private static let names: Set<String> = [
        "PATH", "HOME", "TERM", "TERMINFO", "TERMINFO_DIRS", "TERMCAP", "COLORTERM", "LANG", "LANGUAGE", "SHELL", "USER",
        "LOGNAME",
        "TMPDIR", "LINES", "COLUMNS", "LESS", "LESSCHARSET", "LESSKEY", "LESSKEYIN", "LESSHISTFILE", "LESSSECURE", "MORE", "LV",
        "MOST_INITFILE",
    ]
    private static let prefixes = ["LC_", "LESS_TERMCAP_"]
}

/// Counts the rows that text takes at a terminal. A wide character counts as one column.
struct ScreenRows {
    private(set) var rows = 0
    private var column = 0
    /// Whether the next byte is part of a colour's escape sequence, which takes no room.
    private var isInSequence = false

    mutating func add(_ text: [UInt8], columns: Int) {
        for byte in text {
            if isInSequence {
                isInSequence = byte != UInt8(ascii: "m")
            } else if byte == 0x1B {
                isInSequence = true
            } else if byte == 0x0A {
                rows += 1
                column = 0
            } else if byte == 0x09 {
                column += 8 - column % 8
            } else if byte != 0x0D, byte & 0xC0 != 0x80 {
                // A row is full only once another character follows.
                if column >= columns {
                    rows += 1
                    column = 0
                }
                column += 1
            }
        }
    }
}
