import Glibc
import NevodSupport

/// Messages for people, on standard error. Standard output belongs to the answer's body.
struct Console: Sendable {
    let isSilent: Bool
    let isVerbose: Bool

    func error(_ message: String) {
        guard !isSilent else { return }
        Self.write("nevod-host: \(TerminalText.safe(message))\n")
    }

    func inform(_ message: String) {
        error(message)
    }

    func warning(_ message: String) {
        error("warning: \(message)")
    }

    /// A line of the conversation, with curl's marks: `*` for the host, `>` for sent, `<` for received.
    func trace(_ mark: Character, _ line: String) {
        guard isVerbose, !isSilent else { return }
        Self.write("\(mark) \(TerminalText.safe(line))\n")
    }

    /// Lines that were asked for.
    func note(_ lines: String) {
        guard !isSilent else { return }
        Self.write(lines)
    }

    static func write(_ text: String) {
        try? FileDescriptor(number: STDERR_FILENO, name: "standard error").write(Array(text.utf8).span)
    }
}
