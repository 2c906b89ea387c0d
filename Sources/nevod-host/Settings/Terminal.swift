import Glibc
import NevodHost
import NevodSupport

/// The process's controlling terminal, independent of its standard streams.
enum Terminal {
    /// Whether there is a terminal to ask at.
    static var isAvailable: Bool {
        guard let terminal = open() else { return false }
        close(terminal)
        return true
    }

    /// Asks without echo and blocks this thread; nil if there is no terminal.
    static func askSecret(_ prompt: String) throws -> Secret? {
        try ask(prompt, echoes: false)
    }

    /// Asks with echo and blocks this thread; nil if there is no terminal.
    static func askLine(_ prompt: String) throws -> String? {
        try ask(prompt, echoes: true)?.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Asks, and waits on a separate thread for the answer, or until the task is cancelled; nil if there is no terminal.
    ///
    /// - Parameter prompt: made safe for the terminal; it may have several lines.
    static func answer(_ prompt: String, echoes: Bool) async throws -> Secret? {
        let stop = try WakeUp()
        return try await withTaskCancellationHandler {
            try await onThread { try ask(prompt, echoes: echoes, stop) }
        } onCancel: {
            stop.wake()
        }
    }

    /// Writes to the terminal, if there is one.
    static func write(_ text: String) {
        guard let terminal = open() else { return }
        defer { close(terminal) }
        try? FileDescriptor(number: terminal, name: "the terminal").write(TerminalFilter.safe(text).span)
    }

    private static let activity = "waiting for an answer at the terminal"

    /// Stops this process from asking questions, as if it had no terminal.
    static func forbid() { forbidden.withLock { $0 = true } }

    static var isForbidden: Bool { forbidden.withLock(\.self) }

    private static let forbidden = Locked(false)

    private static func open() -> Int32? {
        guard !isForbidden else { return nil }
        let terminal = Glibc.open("/dev/tty", O_RDWR | O_CLOEXEC)
        return terminal >= 0 ? terminal : nil
    }

    private static func ask(_ prompt: String, echoes: Bool, _ stop: WakeUp? = nil) throws -> Secret? {
        guard let terminal = open() else { return nil }
        defer { close(terminal) }
        var before = termios()
        guard tcgetattr(terminal, &before) == 0 else { return nil }
        if !echoes { silence(terminal, before) }
        defer {
            if !echoes {
                tcsetattr(terminal, TCSAFLUSH, &before)
                Interruption.shared.end()
            }
        }
        let output = FileDescriptor(number: terminal, name: "the terminal")
        try output.write(TerminalFilter.safe(prompt).span)
        if let stop, !Activity.during(activity, { stop.waitUntilReadable(terminal) }) {
            // So that the next output starts on a new line.
            try output.write([UInt8(ascii: "\n")].span)
            throw CancellationError()
        }
        return try line(from: terminal)
    }

    private static func silence(_ terminal: Int32, _ before: termios) {
        Interruption.shared.begin { () -> (Void, Interruption.Undo?) in
            var quiet = before
            quiet.c_lflag &= ~tcflag_t(ECHO)
            quiet.c_lflag |= tcflag_t(ECHONL)
            tcsetattr(terminal, TCSAFLUSH, &quiet)
            return (
                (),
                {
                    var saved = before
                    tcsetattr(terminal, TCSAFLUSH, &saved)
                }
            )
        }
    }

    private static func line(from terminal: Int32) throws -> Secret {
        try withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { line in
            defer { line.wipe() }
            let count = Activity.during(activity) { read(terminal, line.baseAddress, line.count) }
            guard count >= 0 else { throw InputError("the terminal", errno) }
            guard count > 0 else {
                // So that the next output starts on a new line.
                try FileDescriptor(number: terminal, name: "the terminal").write([UInt8(ascii: "\n")].span)
                throw UnansweredError.closedPrompt
            }
            let end = line[..<count].firstIndex { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } ?? count
            return Secret(copying: UnsafeRawBufferPointer(rebasing: line[..<end]))
        }
    }
}
