import NevodSupport

/// Parses the text of a file of flags (`-K`), in the syntax of curl's config files:
///
///     # a comment
///     url = "https://example.com/"
///     header: X-A: 1
///     -o out.json
///     silent
///
/// Between double quotes `\\`, `\"`, `\t`, `\n`, `\r` and `\v` are escapes. Errors never repeat a value, which may be a secret.
struct FlagFileParser {
    struct Line: Equatable {
        /// From 1.
        let number: Int
        /// With its dashes, if it has any.
        let option: String
        /// Nil without a value.
        let value: String?
    }

    let path: String

    func lines(_ bytes: [UInt8]) throws(ConfigError) -> [Line] {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw ConfigError(path, nil, "it is not UTF-8") }
        var lines: [Line] = []
        // By bytes: a line break followed by a combining mark is one Character, and not a line break.
        for (index, line) in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated() {
            var line = line
            if index == 0, line.starts(with: "\u{FEFF}".utf8) { line = line.dropFirst(3) }
            guard !line.contains(0) else { throw ConfigError(path, index + 1, "it contains a zero byte") }
            if let parsed = try self.line(line, index + 1) { lines.append(parsed) }
        }
        return lines
    }

    private func line(_ text: Substring.UTF8View, _ number: Int) throws(ConfigError) -> Line? {
        var rest = text.drop(while: Self.isSpace)
        guard let first = rest.first, !"#/*".utf8.contains(first) else { return nil }
        let isDashed = first == UInt8(ascii: "-")
        let isSeparator = { (byte: UInt8) in !isDashed && (byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")) }
        let option = rest.prefix { !Self.isSpace($0) && !isSeparator($0) }
        guard (1...64).contains(option.count), option.allSatisfy({ Self.isOfName($0) || isDashed && $0 > 0x20 && $0 < 0x7F })
        else {
            throw ConfigError(path, number, "write a line as NAME = VALUE, with the long name of an option")
        }
        rest = rest[option.endIndex...].drop { Self.isSpace($0) || isSeparator($0) }
        let name = String(decoding: option, as: UTF8.self)
        guard let next = rest.first else { return Line(number: number, option: name, value: nil) }
        if next == UInt8(ascii: "\"") { return Line(number: number, option: name, value: try quoted(rest.dropFirst(), number)) }
        let value = rest.prefix { !Self.isSpace($0) }
        try checkEnd(rest[value.endIndex...], number)
        return Line(number: number, option: name, value: String(decoding: value, as: UTF8.self))
    }

    private func quoted(_ text: Substring.UTF8View, _ number: Int) throws(ConfigError) -> String {
        var rest = text
        var value: [UInt8] = []
        var isClosed = false
        while let byte = rest.popFirst() {
            guard byte != UInt8(ascii: "\"") else {
                isClosed = true
                break
            }
            guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
                value.append(byte)
                continue
            }
            switch escaped {
            case UInt8(ascii: "t"): value.append(0x09)
            case UInt8(ascii: "n"): value.append(0x0A)
            case UInt8(ascii: "r"): value.append(0x0D)
            case UInt8(ascii: "v"): value.append(0x0B)
            default: value.append(escaped)
            }
        }
        guard isClosed else {
            throw ConfigError(path, number, "the value has no closing quote")
        }
        try checkEnd(rest, number)
        return String(decoding: value, as: UTF8.self)
    }

    /// Only a comment may follow a value. curl ignores more words with a warning, and so sends half of a value.
    private func checkEnd(_ text: Substring.UTF8View, _ number: Int) throws(ConfigError) {
        guard let next = text.first(where: { !Self.isSpace($0) }), next != UInt8(ascii: "#") else { return }
        throw ConfigError(path, number, "there is a text behind the value; put a value with spaces between double quotes")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
