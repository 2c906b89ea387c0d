internal import NevodSupport

/// A log's entry as one line of text: `message name=value name="another value"`. Line breaks, terminal codes and NUL are
/// escaped (`\u{a}`), so that no server writes a line of its own into a log, or steers the terminal that shows it.
enum LogLine {
    /// Of one line, in bytes. A datagram that is too long for the socket of the system's log would be dropped whole.
    private static let longest = 32 << 10

    static func text(_ message: String, _ metadata: LogMetadata) -> String {
        var line = TerminalText.safe(message)
        for pair in metadata.pairs { line += " \(quoted(pair.name))=\(quoted(pair.value))" }
        return shortened(line)
    }

    /// A value with a space, a quote or an equals sign is set in quotes, so that it can't pass for more than one.
    private static func quoted(_ text: String) -> String {
        let safe = TerminalText.safe(text)
        guard text.isEmpty || text.utf8.contains(where: { $0 == 0x20 || $0 == 0x22 || $0 == 0x3D || $0 == 0x5C }) else {
            return safe
        }
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return TerminalText.safe(quoted) + "\""
    }

    private static func shortened(_ line: String) -> String {
        let bytes = line.utf8
        guard bytes.count > longest else { return line }
        var end = bytes.index(bytes.startIndex, offsetBy: longest)
        // Not within a character.
        while bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
        return line[..<end] + "[… \(bytes.count - longest) bytes more]"
    }
}
