import Glibc
import NevodSupport

/// Writes messages for people to standard error. Standard output belongs to the response's body.
struct Console: Sendable {
    /// The lines to show in addition to errors and warnings.
    enum Verbosity {
        case none
        /// With `-v`: the conversation, and what plugins log.
        case conversation
        /// With `-vv`: in addition, the sensitive details of a plugin's error, and the plugin's debug log.
        case details
    }

    /// With `-s`.
    let isSilent: Bool
    /// With `-S`: shows errors in spite of `-s`.
    let showsErrors: Bool
    let verbosity: Verbosity

    var isVerbose: Bool { verbosity != .none }

    init(isSilent: Bool, showsErrors: Bool = false, verbosity: Verbosity) {
        self.isSilent = isSilent
        self.showsErrors = showsErrors
        self.verbosity = verbosity
    }

    init(_ arguments: Arguments) {
        self.init(isSilent: arguments.has(.silent), showsErrors: arguments.has(.showError), verbosity: arguments.verbosity)
    }

    func error(_ message: String) {
        guard !isSilent || showsErrors else { return }
        Self.write("nevod-host: \(TerminalText.safe(Redaction.shared.message(message)))\n")
    }

    /// Writes an error before the process ends, unless that would wait for a stalled reader.
    func errorWithoutWaiting(_ message: String) {
        var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        // A pipe is ready only if it has room for a page, and a message fits into one.
        guard poll(&ready, 1, 100) == 1, ready.revents & Int16(POLLOUT) != 0 else { return }
        error(message)
    }

    /// Writes what a person asked for with `-vv`, secrets included.
    func detail(_ text: String) {
        guard !isSilent || showsErrors, verbosity == .details else { return }
        Self.write("nevod-host: detail: \(TerminalText.safe(text))\n")
    }

    func inform(_ message: String) {
        guard !isSilent else { return }
        error(message)
    }

    func warning(_ message: String) {
        inform("warning: \(message)")
    }

    /// Writes a line of the conversation with `-v`, with curl's marks: `*` for the host, `>` for sent, `<` for received.
    func trace(_ mark: Character, _ line: String) {
        guard isVerbose, !isSilent else { return }
        trace(mark, redacted: [Redaction.shared.message(line)])
    }

    /// Writes lines that are redacted already.
    func trace(_ mark: Character, redacted lines: [String]) {
        guard isVerbose, !isSilent else { return }
        for line in lines { Self.write("\(mark) \(TerminalText.safe(line))\n") }
    }

    /// Writes a plugin's own line: an error always, a warning only the first time, information with `-v`, the rest with `-vv`.
    ///
    /// - Parameter level: as in ``PluginLog``; any other number counts as the nearest one.
    func log(_ plugin: String, _ level: Int32, _ message: String) {
        // A plugin may repeat what a server said.
        let message = level >= 3 || isVerbose ? Redaction.shared.text(message) : message
        switch level {
        case 4...: error("\(plugin): error: \(message)")
        case 3: if Self.isNew("\(plugin) \(message)") { warning("\(plugin): \(message)") }
        case 2: trace("*", "\(plugin): info: \(message)")
        default: if verbosity == .details { trace("*", "\(plugin): debug: \(message)") }
        }
    }

    private static let shown = Locked<Set<String>>([])
    private static let mostShown = 1000

    /// Whether a warning is shown for the first time in this run. Each request of a series would repeat it.
    private static func isNew(_ warning: String) -> Bool {
        shown.withLock { $0.count >= mostShown ? !$0.contains(warning) : $0.insert(warning).inserted }
    }

    /// Writes a step that a scheme explains, without a prefix.
    func step(_ text: String) {
        note("\(TerminalText.safe(Redaction.shared.value(text)))\n")
    }

    /// Writes lines that the user asked for, unchanged.
    func note(_ lines: String) {
        guard !isSilent else { return }
        Self.write(lines)
    }

    static func write(_ text: String) {
        try? FileDescriptor(number: STDERR_FILENO, name: "standard error").write(Array(text.utf8).span)
    }
}
