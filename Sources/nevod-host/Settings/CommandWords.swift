/// Splits a command into words without a shell.
///
/// Spaces and tabs separate words. `'…'` keeps its content unchanged. Within `"…"`, and outside of quotes, `\` keeps the next
/// character unchanged. Nothing is expanded: `$HOME`, `*` and `;` are ordinary text.
enum CommandWords {
    /// - Throws: ``CommandWordsError`` for an unclosed quote, a `\` at the end, and a command without words.
    static func split(_ text: String) throws(CommandWordsError) -> [String] {
        var words: [String] = []
        var word: [UInt8]?
        var quote: UInt8?
        var bytes = text.utf8[...]
        // Splits by bytes: a quote followed by a combining mark is a single Character.
        while let byte = bytes.popFirst() {
            switch (byte, quote) {
            case (UInt8(ascii: "\\"), nil), (UInt8(ascii: "\\"), UInt8(ascii: "\"")):
                guard let next = bytes.popFirst() else { throw .unfinished("\\") }
                word = (word ?? []) + [next]
            case (UInt8(ascii: "'"), nil), (UInt8(ascii: "\""), nil):
                quote = byte
                word = word ?? []
            case (_, byte):
                quote = nil
            case (UInt8(ascii: " "), nil), (UInt8(ascii: "\t"), nil):
                if let word { words.append(String(decoding: word, as: UTF8.self)) }
                word = nil
            default:
                word = (word ?? []) + [byte]
            }
        }
        if let quote { throw .unfinished(quote == UInt8(ascii: "'") ? "'" : "\"") }
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        guard let first = words.first, !first.isEmpty else { throw .empty }
        return words
    }
}

/// Reports a command that can't be split. The description continues a sentence whose subject is the command.
enum CommandWordsError: Error, Equatable, CustomStringConvertible {
    /// A quote that isn't closed, or a backslash with nothing after it.
    case unfinished(String)
    case empty

    var description: String {
        switch self {
        case .unfinished("\\"): "ends with a \\, which needs a character after it"
        case .unfinished(let quote): "has an unclosed \(quote)"
        case .empty: "names no program"
        }
    }
}
