package import NevodSupport

/// Formats a log entry as one line of text: `message name=value name="another value"`. Line breaks, terminal codes and NUL are
/// escaped (`\u{a}`), so that a server can neither forge a log line nor control the terminal that shows it.
enum LogLine {
    /// In bytes. The system's log drops a datagram that is too long for its socket.
    private static let maxLength = 32 << 10

    static func text(_ message: String, _ metadata: LogMetadata) -> String {
        var line = TerminalText.safe(message)
        for pair in metadata.pairs { line += " \(quoted(pair.name))=\(quoted(pair.value))" }
        return shortened(line)
    }

    /// Quotes a value with a space, a quote, a backslash or an equals sign, so that it can't be read as several pairs.
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
        guard bytes.count > maxLength else { return line }
        var end = bytes.index(bytes.startIndex, offsetBy: maxLength)
        // Doesn't cut within a character.
        while bytes[end] & 0xC0 == 0x80 { end = bytes.index(before: end) }
        return line[..<end] + "[… \(bytes.count - maxLength) bytes more]"
    }
}

extension TerminalText {
    /// Shows each byte that is not UTF-8 as an escape, such as `\x9b`. Some terminals read that byte as the start of a control
    /// sequence.
    package static func safe(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        // Escapes are kept apart from the text that is still to be made safe.
        var shown = ""
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var pending: [UInt8] = []
        // The parser doesn't return the bytes that it rejected, so they are recorded here.
        var noted = AnyIterator<UInt8> {
            guard let byte = rest.next() else { return nil }
            pending.append(byte)
            return byte
        }
        while true {
            switch parser.parseScalar(from: &noted) {
            case .valid(let encoded):
                text.unicodeScalars.append(Unicode.UTF8.decode(encoded))
                pending.removeFirst(encoded.count)
            case .error(let length):
                shown += safe(text) + pending.prefix(length).map { "\\x\(Hexadecimal.text([$0]))" }.joined()
                text = ""
                pending.removeFirst(length)
            case .emptyInput: return shown + safe(text)
            }
        }
    }
}
