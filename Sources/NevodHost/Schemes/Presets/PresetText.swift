internal import NevodSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The parsed text of a preset, not yet checked against a scheme's settings.
///
///     # Okta
///     # source: https://developer.okta.com/docs/reference/api/oidc/
///     {domain} = The domain of your organization, such as acme.okta.com
///     issuer = https://{domain}
struct PresetText: Sendable {
    struct Placeholder: Sendable {
        let name: String
        let help: String
        let line: Int
    }

    struct Entry: Sendable {
        let name: String
        let value: Value
        let line: Int
    }

    enum Value: Sendable, Equatable {
        /// At most one literal between two placeholders; empty for an empty text.
        case text([Piece])
        /// The value of an environment variable.
        case variable(String)
    }

    enum Piece: Sendable, Equatable {
        case literal(String)
        case placeholder(String)
    }

    /// The first line, without its `#`.
    let title: String
    let placeholders: [Placeholder]
    let entries: [Entry]

    static let largest = 64 << 10
    private static let mostPlaceholders = 16
    private static let longestTitle = 120

    /// Reads a file that only root and this user can change.
    ///
    /// - Parameters:
    ///   - path: canonical.
    ///   - mayReadEnvironment: whether a value may be `env:VARIABLE`.
    init(path: String, mayReadEnvironment: Bool) throws(PresetError) {
        try self.init(try Self.content(path), path: path, mayReadEnvironment: mayReadEnvironment)
    }

    init(_ bytes: [UInt8], path: String, mayReadEnvironment: Bool) throws(PresetError) {
        let malformed = { (line: Int?, problem: String) in PresetError(path, .malformed(line: line, problem: problem)) }
        guard bytes.count <= Self.largest else { throw malformed(nil, "it is larger than 64 KiB") }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed(nil, "it is not UTF-8") }
        let lines = ConfigLine.lines(of: text)
        guard let first = lines.first, let title = Self.title(first) else {
            throw malformed(lines.first?.number, "the first line must be a comment that says what the preset is for: # GitHub")
        }
        self.title = title
        var placeholders: [Placeholder] = []
        var values: [(name: String, text: String, line: Int)] = []
        for line in lines where !line.isComment {
            guard !line.hasControl else { throw malformed(line.number, "it contains a control character") }
            guard let value = line.value, !value.isEmpty else { throw malformed(line.number, "write a line as NAME = VALUE") }
            let name = line.name
            if name.utf8.first == UInt8(ascii: "{") {
                let inner = String(decoding: name.utf8.dropFirst().dropLast(), as: UTF8.self)
                guard name.utf8.last == UInt8(ascii: "}"), Self.isName(inner), !placeholders.contains(where: { $0.name == inner })
                else { throw malformed(line.number, "a placeholder is declared once, as {NAME} = HELP, with a-z, 0-9 and -") }
                guard placeholders.count < Self.mostPlaceholders else {
                    throw malformed(line.number, "there are more than \(Self.mostPlaceholders) placeholders")
                }
                placeholders.append(Placeholder(name: inner, help: value, line: line.number))
            } else {
                guard Self.isName(name), name != SchemePreset.settingName else {
                    throw malformed(line.number, "write a line as NAME = VALUE, with the name of a setting")
                }
                values.append((name, value, line.number))
            }
        }
        self.placeholders = placeholders
        let names = placeholders.map(\.name)
        var entries: [Entry] = []
        for (name, text, line) in values {
            let value: Value
            if let variable = Self.rest(of: text, after: "env:") {
                guard mayReadEnvironment else {
                    throw malformed(
                        line,
                        "env: is for presets that are found by their name; put the file into ~/.config/nevod-host/presets/SCHEME")
                }
                guard Self.isVariable(variable) else { throw malformed(line, "env: needs the name of a variable") }
                value = .variable(variable)
            } else {
                let isSource = ["file:", "keyring:", "command:"].contains { Self.rest(of: text, after: $0) != nil }
                guard !isSource, text != "-" else {
                    throw malformed(
                        line, "a preset can't read a file, keyring, command or standard input; write text:VALUE for a text")
                }
                // Only `text:` can give an empty text, as in `--set NAME=text:`.
                value = .text(Self.pieces(Self.rest(of: text, after: "text:") ?? text, placeholders: names))
            }
            entries.append(Entry(name: name, value: value, line: line))
        }
        self.entries = entries
        if let unused = placeholders.first(where: { placeholder in
            !entries.contains { $0.value.placeholders.contains(placeholder.name) }
        }) {
            throw malformed(unused.line, "no line uses {\(unused.name)}")
        }
    }

    private static func title(_ line: ConfigLine) -> String? {
        guard line.isComment, !line.hasControl else { return nil }
        let title = String(decoding: ConfigLine.trimmed(line.text.drop { $0 == UInt8(ascii: "#") }), as: UTF8.self)
        return title.isEmpty || title.utf8.count > longestTitle ? nil : title
    }

    /// Splits a text at its placeholders. Other texts in braces stay, since a setting may have a template of its own.
    private static func pieces(_ text: String, placeholders: [String]) -> [Piece] {
        var pieces: [Piece] = []
        var literal = text.utf8[...]
        var rest = text.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")) {
            let inner = rest[rest.index(after: open)...]
            rest = inner
            let found = placeholders.first { name in
                inner.starts(with: name.utf8) && inner.dropFirst(name.utf8.count).first == UInt8(ascii: "}")
            }
            guard let name = found else { continue }
            if open > literal.startIndex {
                pieces.append(.literal(String(decoding: literal[..<open], as: UTF8.self)))
            }
            pieces.append(.placeholder(name))
            rest = inner.dropFirst(name.utf8.count + 1)
            literal = rest
        }
        if !literal.isEmpty { pieces.append(.literal(String(decoding: literal, as: UTF8.self))) }
        return pieces
    }

    private static func rest(of text: String, after lead: String) -> String? {
        text.utf8.starts(with: lead.utf8) ? String(decoding: text.utf8.dropFirst(lead.utf8.count), as: UTF8.self) : nil
    }

    // MARK: Names

    /// Whether a text is a name like a setting's: a-z first, then a-z, 0-9 and hyphens; at most 64 characters.
    static func isName(_ text: String) -> Bool {
        text.utf8.count <= 64 && text.utf8.isContractName
    }

    /// Whether a text can replace a placeholder: it must not change the structure of the URL around it.
    static func isPlaceholderValue(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last, text.utf8.count <= 255 else { return false }
        return first.isAlphanumeric && last.isAlphanumeric
            && text.utf8.allSatisfy { $0.isAlphanumeric || "._-:".utf8.contains($0) }
    }

    /// Returns the name in `NAME=VALUE` or `NAME: VALUE`; nil for any other text. The latter is a header field, so its name is in
    /// lower case.
    static func pairName(of text: String) -> String? {
        let name = text.utf8.prefix { $0.isAlphanumeric || "._-".utf8.contains($0) }
        let rest = text.utf8[name.endIndex...]
        guard !name.isEmpty else { return nil }
        let text = String(decoding: name, as: UTF8.self)
        if rest.first == UInt8(ascii: "=") { return text }
        return rest.starts(with: ": ".utf8) ? text.lowercased() : nil
    }

    private static func isVariable(_ text: String) -> Bool {
        guard let first = text.utf8.first, !first.isDigit else { return false }
        return text.utf8.allSatisfy { $0.isAlphanumeric || $0 == UInt8(ascii: "_") }
    }

    // MARK: Files

    private static func content(_ path: String) throws(PresetError) -> [UInt8] {
        if let (culprit, problem) = PathTrust.problem(of: path) {
            throw PresetError(path, .unsafePermissions(path: culprit, problem: problem))
        }
        // Without O_NONBLOCK, opening a FIFO would wait for a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw PresetError(path, .unreadable(String(cString: strerror(errno)))) }
        defer { close(file) }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            throw PresetError(path, .unreadable("it is not a regular file"))
        }
        // One byte more than the limit, so that a larger file is noticed.
        var bytes = [UInt8](repeating: 0, count: largest + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress.map { $0 + count }, $0.count - count) }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw PresetError(path, .unreadable(String(cString: strerror(errno)))) }
            if got == 0 { break }
            count += got
        }
        return Array(bytes[..<count])
    }
}

extension PresetText.Value {
    /// The names of the value's placeholders.
    var placeholders: [String] {
        guard case .text(let pieces) = self else { return [] }
        return pieces.compactMap { piece in
            if case .placeholder(let name) = piece { name } else { nil }
        }
    }

    /// The name of a pair such as `prompt=consent`; nil for another value.
    var pairName: String? {
        guard case .text(let pieces) = self, case .literal(let start)? = pieces.first else { return nil }
        return PresetText.pairName(of: start)
    }
}

/// A line of a file that people write: `NAME = VALUE`, or a comment that begins with `#`. The config file and presets consist of
/// such lines.
package struct ConfigLine {
    /// The line's number, counted from 1.
    package let number: Int
    /// The bytes without spaces around them; at least one.
    package let text: Substring.UTF8View

    package init(number: Int, text: Substring.UTF8View) {
        self.number = number
        self.text = text
    }

    package var isComment: Bool { text.first == UInt8(ascii: "#") }

    /// Whether a byte is a control character other than a tab.
    package var hasControl: Bool { !text.allSatisfy(\.isFieldByte) }

    /// The text before the first equals sign, or all of it.
    package var name: String { String(decoding: Self.trimmed(text.prefix { $0 != UInt8(ascii: "=") }), as: UTF8.self) }

    /// The text after the first equals sign; nil without one.
    package var value: String? {
        text.firstIndex(of: UInt8(ascii: "=")).map {
            String(decoding: Self.trimmed(text[text.index(after: $0)...]), as: UTF8.self)
        }
    }

    /// Returns the lines that are not empty. Skips a byte order mark before the first one.
    package static func lines(of text: String) -> [ConfigLine] {
        var lines: [ConfigLine] = []
        // Splits by bytes: a line break followed by a combining mark is one Character, and not a line break.
        let split = text.utf8.withoutByteOrderMark.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in split.enumerated() {
            let line = trimmed(line)
            if !line.isEmpty { lines.append(ConfigLine(number: index + 1, text: line)) }
        }
        return lines
    }

    /// Returns a text without spaces, tabs and carriage returns at its ends.
    package static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        text.trimmed(of: \.isBlankOrLineBreak)
    }
}
