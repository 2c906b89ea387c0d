import CLinux
import Glibc
import NevodHost

/// Shows text in a pager if it is longer than the terminal, and directly otherwise. Keeps at most one screen in memory, and for no
/// longer than ``patience`` while nothing arrives.
final class Pager {
    private enum State {
        /// It may still fit.
        case collecting
        case running(pid_t, FileDescriptor)
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

    /// Whether nothing more is shown, since the person has left the pager.
    var isClosed: Bool { if case .closed = state { true } else { departure.hasLeft } }

    /// Reads the next piece of what is shown: nil at the end, and as soon as the person has left the pager, which cancels the read.
    /// Shows the kept text if the piece takes long.
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
            // The terminal, if it can't be written to, fails the next write as well.
            if !kept.isEmpty, await Self.takesLong(read) { try? show() }
            do { return try await read.value } catch {
                // Cancelled by the person's departure, which is no failure.
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
        case .running(_, let file):
            guard !departure.hasLeft else { return close() }
            do throws(OutputError) { try file.write(text.span) } catch {
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

    /// Forgets what was not shown so far, and waits until the person leaves the pager.
    func abandon() {
        kept = []
        close()
    }

    /// Shows what is kept, without a pager.
    private func show() throws(OutputError) {
        guard case .collecting = state else { return }
        state = .direct
        let all = kept
        kept = []
        try write(all)
    }

    deinit { close() }

    /// Ends the pager's input, and waits for it.
    private func close() {
        guard case .running(let process, let file) = state else { return }
        state = .closed
        Glibc.close(file.number)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        Interruption.shared.leaveInterruptsToPager(false)
    }

    /// Starts the command with a pipe for its standard input. If it can't be started, the text is written directly.
    private func start() -> State {
        guard let program = Browser.executable(command.words[0]) else { return .direct }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return .direct }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { Glibc.close(ends[0]) }
        guard let process = spawn(program, input: ends[0]) else {
            Glibc.close(ends[1])
            return .direct
        }
        Interruption.shared.leaveInterruptsToPager(true)
        departure.watch(process)
        return .running(process, FileDescriptor(number: ends[1], name: "the pager"))
    }

    private func spawn(_ program: String, input: Int32) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        // Signals are blocked and ignored in this process only.
        var none = sigset_t()
        sigemptyset(&none)
        var ignored = sigset_t()
        sigemptyset(&ignored)
        for signal in [SIGPIPE, SIGXFSZ] { sigaddset(&ignored, signal) }
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &ignored)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let words = command.words.map { strdup($0) }
        let variables = PagerCommand.environment(Self.variables).map { strdup($0) }
        defer { for copy in words + variables { free(copy) } }
        var process = pid_t()
        guard posix_spawn(&process, program, &actions, &attributes, words + [nil], variables + [nil]) == 0 else { return nil }
        return process
    }

    private static var variables: [String] {
        var found: [String] = []
        var entry = environ
        while let text = entry.pointee {
            found.append(String(cString: text))
            entry += 1
        }
        return found
    }
}
