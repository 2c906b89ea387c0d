/// A line of a file that people write: `NAME = VALUE`, or a comment that begins with `#`. The config file and presets consist of such
/// lines.
package struct ConfigLine {
    /// From 1.
    package let number: Int
    /// The bytes without spaces around them; at least one.
    package let text: Substring.UTF8View

    package init(number: Int, text: Substring.UTF8View) {
        self.number = number
        self.text = text
    }

    package var isComment: Bool { text.first == UInt8(ascii: "#") }

    /// Whether a byte is a control character other than a tab.
    package var hasControl: Bool { !text.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F } }

    /// The text before the first equals sign, or all of it.
    package var name: String { String(decoding: Self.trimmed(text.prefix { $0 != UInt8(ascii: "=") }), as: UTF8.self) }

    /// The text behind the first equals sign; nil without one.
    package var value: String? {
        text.firstIndex(of: UInt8(ascii: "=")).map {
            String(decoding: Self.trimmed(text[text.index(after: $0)...]), as: UTF8.self)
        }
    }

    /// Returns the lines that are not empty. A byte order mark in front of the first one is skipped.
    package static func lines(of text: String) -> [ConfigLine] {
        var lines: [ConfigLine] = []
        // Splits by bytes: a line break followed by a combining mark is one Character, and not a line break.
        for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            var line = line
            if index == 0, line.starts(with: "\u{FEFF}".utf8) { line = line.dropFirst(3) }
            line = trimmed(line)
            if !line.isEmpty { lines.append(ConfigLine(number: index + 1, text: line)) }
        }
        return lines
    }

    /// Returns a text without spaces, tabs and carriage returns at its ends.
    package static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        var text = text
        while let first = text.first, isSpace(first) { text.removeFirst() }
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }

    package static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D }
}
