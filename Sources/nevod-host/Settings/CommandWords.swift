/// Splits a command into words without a shell.
///
/// Words are separated by spaces and tabs. `'…'` keeps everything within as it is; within `"…"`, and outside of quotes, `\` keeps the
/// next character as it is. Nothing is expanded: `$HOME`, `*` and `;` are ordinary text.
enum CommandWords {
    /// - Throws: ``CommandWordsError`` for a quote without its end, a `\` at the end, and a command without words.
    static func split(_ text: String) throws(CommandWordsError) -> [String] {
        var words: [String] = []
        var word: [UInt8]?
        var quote: UInt8?
        var bytes = text.utf8[...]
        // By bytes: a combining mark behind a quote would make one Character of both.
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

/// Reports a command that can't be split. The description is the end of a sentence that begins with the command's subject.
enum CommandWordsError: Error, Equatable, CustomStringConvertible {
    /// A quote, or a backslash, without what must follow.
    case unfinished(String)
    case empty

    var description: String {
        switch self {
        case .unfinished("\\"): "ends with a \\, which must stand before another character"
        case .unfinished(let quote): "has a \(quote) without its end"
        case .empty: "names no program"
        }
    }
}
