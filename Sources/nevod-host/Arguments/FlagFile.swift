import NevodHost
import NevodSupport

/// A file of flags and URLs (`-K`). Unlike a command line, it may hold a password: see ``FileSecrets``.
struct FlagFile {
    let path: String
    let lines: [FlagFileParser.Line]
    private let isReadableByOthers: Bool

    private static let maximumSize = 1 << 20

    /// Reads a file. Refuses a file that other users may write, unless it is `-` or a shell's pipe.
    init(path: String) throws {
        let bytes: [UInt8]
        if path == "-" || OwnDescriptor.number(of: path) != nil {
            self.path = path == "-" ? "standard input" : path
            bytes = try readFile(path, limit: Self.maximumSize)
            isReadableByOthers = false
        } else {
            self.path = path
            guard let content = try ConfigFile.content(path: path) else { throw InputError(path, 2) }
            (bytes, isReadableByOthers) = content
        }
        lines = try FlagFileParser(path: self.path).lines(bytes)
    }

    /// Passes the flags of each line to a function. Returns a warning about the file, or nil.
    func read(
        of command: Command, _ add: ((name: Flag.Name, value: String)) throws -> Void
    ) throws -> String? {
        var holdsSecret = false
        for line in lines {
            for flag in try flags(line, command) {
                guard flag.name != .config, flag.name != .debuggable else {
                    throw ConfigError(path, line.number, "\(flag.name.spelling) belongs on the command line")
                }
                if flag.name == .header { FileSecrets.mark(headerLine: flag.value) }
                guard flag.name.takesSecret, FileSecrets.isSecret(flag.value, of: flag.name) else {
                    try add(flag)
                    continue
                }
                holdsSecret = true
                try add((flag.name, FileSecrets.keep(flag.value, of: "\(path):\(line.number)")))
            }
        }
        return holdsSecret && isReadableByOthers ? warning(aboutReadersOf: path) : nil
    }

    private func flags(_ line: FlagFileParser.Line, _ command: Command) throws -> [(name: Flag.Name, value: String)] {
        var rest = line.value.map { [$0][...] } ?? []
        let flags: [(name: Flag.Name, value: String)]
        do throws(UsageError) {
            flags =
                if line.option.hasPrefix("-"), !line.option.hasPrefix("--") {
                    try Arguments.short(line.option, &rest, command)
                } else {
                    [try Arguments.long(line.option.hasPrefix("--") ? line.option : "--\(line.option)", &rest, command)]
                }
        } catch {
            throw ConfigError(path, line.number, error.description)
        }
        guard rest.isEmpty else { throw ConfigError(path, line.number, "\(line.option) takes no value") }
        return flags
    }
}

extension Flag.Name {
    /// Whether a file, unlike a command line, may hold the flag's value itself.
    fileprivate var takesSecret: Bool { [.user, .bearer, .proxyUser].contains(self) }
}

/// Parses a file of flags (`-K`), in the syntax of curl's config files:
///
///     # a comment
///     url = "https://example.com/"
///     header: X-A: 1
///     -o out.json
///     silent
///
/// Within double quotes, `\\`, `\"`, `\t`, `\n`, `\r` and `\v` are escapes. Errors never repeat a value, which may be a secret.
struct FlagFileParser {
    struct Line: Equatable {
        /// The line's number, from 1.
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
        // Splits by bytes: a line break followed by a combining mark is a single Character.
        let split = text.utf8.withoutByteOrderMark.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in split.enumerated() {
            guard !line.contains(0) else { throw ConfigError(path, index + 1, "it contains a zero byte") }
            if let parsed = try self.line(line, index + 1) { lines.append(parsed) }
        }
        return lines
    }

    private func line(_ text: Substring.UTF8View, _ number: Int) throws(ConfigError) -> Line? {
        var rest = text.drop(while: \.isCWhitespace)
        guard let first = rest.first, !"#/*".utf8.contains(first) else { return nil }
        let isDashed = first == UInt8(ascii: "-")
        let isSeparator = { (byte: UInt8) in !isDashed && (byte == UInt8(ascii: "=") || byte == UInt8(ascii: ":")) }
        let option = rest.prefix { !$0.isCWhitespace && !isSeparator($0) }
        guard (1...64).contains(option.count), option.allSatisfy({ Self.isOfName($0) || isDashed && $0.isVisible })
        else {
            throw ConfigError(path, number, "write a line as NAME = VALUE, with the long name of an option")
        }
        rest = rest[option.endIndex...].drop { $0.isCWhitespace || isSeparator($0) }
        let name = String(decoding: option, as: UTF8.self)
        guard let next = rest.first else { return Line(number: number, option: name, value: nil) }
        if next == UInt8(ascii: "\"") { return Line(number: number, option: name, value: try quoted(rest.dropFirst(), number)) }
        let value = rest.prefix { !$0.isCWhitespace }
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

    /// Only a comment may follow a value. curl ignores further words with a warning, and sends half of the intended value.
    private func checkEnd(_ text: Substring.UTF8View, _ number: Int) throws(ConfigError) {
        guard let next = text.first(where: { !$0.isCWhitespace }), next != UInt8(ascii: "#") else { return }
        throw ConfigError(path, number, "there is text after the value; put a value with spaces in double quotes")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || "-._".utf8.contains(byte)
    }
}

/// The secrets in files of flags (`-K`). The arguments hold a reference to each secret instead, so that a typed value is never
/// mistaken for a value from a file.
enum FileSecrets {
    private static let secrets = Locked<[String: Secret]>([:])

    /// Whether a flag's value, such as that for `-u`, is the secret itself and not its source. A name without a password isn't a
    /// secret.
    static func isSecret(_ value: String, of name: Flag.Name) -> Bool {
        (name == .bearer || value.utf8.contains(UInt8(ascii: ":"))) && !SecretSource.isSource(value)
    }

    /// Keeps a value, and returns the reference to it.
    ///
    /// - Parameter place: the value's file and line.
    static func keep(_ value: String, of place: String) -> String {
        let source = "\(place) of -K"
        secrets.withLock { $0[source] = Secret(copying: Array(value.utf8)) }
        return source
    }

    /// Marks a header line as read from a file. The arguments still hold the line itself, because its name decides which other
    /// lines it replaces.
    static func mark(headerLine line: String) { lines.withLock { _ = $0.insert(line) } }

    /// Whether a header line comes from a file.
    static func isMarked(headerLine line: String) -> Bool { lines.withLock { $0.contains(line) } }

    private static let lines = Locked<Set<String>>([])

    /// Returns the secret of a reference; nil for any other text.
    static func secret(_ source: String) -> Secret? { secrets.withLock { $0[source] } }
}
