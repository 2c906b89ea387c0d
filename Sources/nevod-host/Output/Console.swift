import Glibc
import NevodSupport

/// Writes messages for people to standard error. Standard output belongs to the response's body.
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

    /// Writes a line of the conversation with `-v`, with curl's marks: `*` for the host, `>` for sent, `<` for received.
    func trace(_ mark: Character, _ line: String) {
        guard isVerbose, !isSilent else { return }
        Self.write("\(mark) \(TerminalText.safe(line))\n")
    }

    /// Writes lines that the user asked for, as they are.
    func note(_ lines: String) {
        guard !isSilent else { return }
        Self.write(lines)
    }

    static func write(_ text: String) {
        try? FileDescriptor(number: STDERR_FILENO, name: "standard error").write(Array(text.utf8).span)
    }
}
