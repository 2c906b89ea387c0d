import NevodHost
import NevodSupport

/// The words around a URL: a method before it, and items such as `name=value` after it.
struct Shorthand: Sendable {
    var method: String?
    var items: [RequestItem] = []

    /// Separates URLs from the words around them.
    ///
    /// A word after a URL is an item if it has an item's separator before any `/`, `?` or `#`, and doesn't look like `host:port`.
    /// A word of capital letters before a URL is the method.
    static func transfers(
        _ operands: [ArgumentGroups.Operand]
    ) throws(UsageError) -> [(url: String, shorthand: Shorthand)] {
        var transfers: [(url: String, shorthand: Shorthand)] = []
        var method: String?
        for (index, operand) in operands.enumerated() {
            guard case .word(let word) = operand else {
                transfers.append((operand.text, Shorthand(method: method)))
                method = nil
                continue
            }
            let item = isURL(word) ? nil : try RequestItem(word)
            if let item, method == nil, !transfers.isEmpty {
                transfers[transfers.count - 1].shorthand.items.append(item)
            } else if method == nil, isMethod(word), index + 1 < operands.count, isURL(operands[index + 1]) {
                method = word
            } else {
                if let item, item.kind.isMarkedByEquals {
                    throw UsageError(
                        "the item \"\(item.name)\(item.kind.rawValue)…\" is before the URL; write it after the URL, "
                            + "or use --url for a URL with such a name")
                }
                transfers.append((word, Shorthand(method: method)))
                method = nil
            }
        }
        return transfers
    }

    /// Returns the flags that the method and the header items amount to.
    ///
    /// - Parameter hasMethod: whether `-X` is given.
    func flags(_ hasMethod: Bool) throws -> [(name: Flag.Name, value: String)] {
        var flags: [(name: Flag.Name, value: String)] = []
        if let method {
            guard !hasMethod else { throw UsageError("the method is given twice: \(method) before the URL, and -X") }
            flags.append((.method, method))
        }
        for item in items {
            switch item.kind {
            // A line that begins with @ would be read as a file of lines.
            case .header, .headerFile, .emptyHeader:
                guard !item.name.hasPrefix("@") else { throw UsageError("\"\(item.name)\" can't be the name of a header line") }
                let value = item.kind == .headerFile ? try item.headerFromFile() : item.value
                let line = item.kind == .emptyHeader ? "\(item.name);" : "\(item.name):\(value.isEmpty ? "" : " ")\(value)"
                if item.kind == .headerFile { FileSecrets.mark(headerLine: line) }
                flags.append((.header, line))
            default: break
            }
        }
        return flags
    }

    private static func isMethod(_ word: String) -> Bool {
        word.utf8.count >= 3 && word.utf8.allSatisfy(\.isUppercase)
    }

    private static func isURL(_ operand: ArgumentGroups.Operand) -> Bool {
        if case .word(let word) = operand { isURL(word) } else { true }
    }

    /// Whether a word can't be an item.
    private static func isURL(_ word: String) -> Bool {
        guard let mark = word.utf8.firstIndex(where: { ":;=@/?#\\".utf8.contains($0) }) else { return true }
        switch word.utf8[mark] {
        case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): return true
        case UInt8(ascii: ":"): break
        default: return false
        }
        let rest = word.utf8[mark...].dropFirst()
        // `https://…`, or an IPv6 address in brackets.
        let isAddress = word.hasPrefix("[") && !word.utf8[..<mark].contains(UInt8(ascii: "]")) && rest.contains(UInt8(ascii: "]"))
        if rest.starts(with: "//".utf8) || isAddress { return true }
        // `host:port`, since no header's name has a dot.
        let digits = rest.prefix(while: \.isDigit)
        let name = word.utf8[..<mark]
        guard !digits.isEmpty, name.contains(UInt8(ascii: ".")) || name.elementsEqual("localhost".utf8) else { return false }
        guard let next = rest.dropFirst(digits.count).first else { return true }
        return "/?#".utf8.contains(next)
    }
}

/// An item after the URL, in HTTPie's notation: a header line, a part of the query, or a part of the content.
struct RequestItem: Equatable, Sendable {
    /// The separators. Each says what the item is.
    enum Kind: String, CaseIterable {
        case header = ":"
        case emptyHeader = ";"
        case headerFile = ":@"
        case query = "=="
        case queryFile = "==@"
        case text = "="
        case textFile = "=@"
        case json = ":="
        case jsonFile = ":=@"
        case file = "@"

        /// Whether a word with this separator is almost certainly an item.
        var isMarkedByEquals: Bool { rawValue.utf8.contains(UInt8(ascii: "=")) }
        /// Whether the value is the path of a file.
        var namesFile: Bool { rawValue.utf8.last == UInt8(ascii: "@") }
        /// Whether the item is a part of the content.
        var isContent: Bool {
            switch self {
            case .text, .textFile, .json, .jsonFile, .file: true
            case .header, .emptyHeader, .headerFile, .query, .queryFile: false
            }
        }
    }

    let kind: Kind
    let name: String
    let value: String

    /// Returns nil for a word without a separator.
    ///
    /// The first separator counts; if several begin at one place, the longest. A backslash makes a separator's character
    /// ordinary. Any other backslash stays.
    init?(_ word: String) throws(UsageError) {
        var characters: [(byte: UInt8, isEscaped: Bool)] = []
        var isEscaped = false
        for byte in word.utf8 {
            if isEscaped {
                if !Self.special.contains(byte) { characters.append((UInt8(ascii: "\\"), true)) }
                characters.append((byte, true))
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                characters.append((byte, false))
            }
        }
        if isEscaped { characters.append((UInt8(ascii: "\\"), true)) }
        guard let start = characters.firstIndex(where: { !$0.isEscaped && Self.special.contains($0.byte) }) else { return nil }
        let rest = characters[start...]
        let found = Kind.allCases.filter { kind in
            rest.count >= kind.rawValue.utf8.count && zip(rest, kind.rawValue.utf8).allSatisfy { !$0.isEscaped && $0.byte == $1 }
        }
        guard let kind = found.max(by: { $0.rawValue.utf8.count < $1.rawValue.utf8.count }) else { return nil }
        self.kind = kind
        name = String(decoding: characters[..<start].map(\.byte), as: UTF8.self)
        value = String(decoding: rest.dropFirst(kind.rawValue.utf8.count).map(\.byte), as: UTF8.self)
        try check()
    }

    private static let special = Array(":;=@".utf8)

    private func check() throws(UsageError) {
        if kind == .emptyHeader, !value.isEmpty {
            throw UsageError("the item \"\(name);\" is an empty header line and takes no value; write \(name):VALUE")
        }
        // A lone file is the whole content, and JSON may be a list, so these items need no name.
        guard name.isEmpty, kind != .file, kind != .text, kind != .textFile, kind != .json, kind != .jsonFile else { return }
        throw UsageError("an item has no name before its \"\(kind.rawValue)\"")
    }

    /// Returns the value, or the unchanged text of the file that it names.
    func text() throws -> String {
        guard kind.namesFile else { return value }
        let bytes = try readFile(value, limit: InputLimit.content)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("\(value), the value of the item \"\(name)\", is not UTF-8")
        }
        return text
    }

    /// Reads a header line's value from a file, and treats it as a secret.
    func headerFromFile() throws -> String {
        var bytes = try readFile(value, limit: InputLimit.headers)
        while let last = bytes.last, last == 10 || last == 13 { bytes.removeLast() }
        Redaction.shared.learn(secret: bytes)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("\(value), the value of the header line \"\(name)\", is not UTF-8")
        }
        return text
    }
}
