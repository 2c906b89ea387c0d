import NevodHost
import NevodSupport

/// An item behind the URL, in HTTPie's notation: a header line, a part of the query, or a part of the content.
struct RequestItem: Equatable, Sendable {
    /// The separators, which say what the item is.
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

        /// Whether such an item can hardly be anything else.
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
    /// The first separator counts, and at one place the longest. A backslash takes the meaning from a separator's character; any other
    /// backslash stays.
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
            throw UsageError("the item \"\(name);\" stands for an empty header line and takes no value; write \(name):VALUE")
        }
        // A file alone is the whole content, and JSON may be a list.
        guard name.isEmpty, kind != .file, kind != .text, kind != .textFile, kind != .json, kind != .jsonFile else { return }
        throw UsageError("an item has no name in front of its \"\(kind.rawValue)\"")
    }

    /// The value, or the whole text of the file that it names, as it is.
    func text() throws -> String {
        guard kind.namesFile else { return value }
        let bytes = try readFile(value, limit: InputLimit.content)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw UsageError("\(value), the value of the item \"\(name)\", is not UTF-8")
        }
        return text
    }

    /// The value of a header line from a file, which may hold a secret.
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
