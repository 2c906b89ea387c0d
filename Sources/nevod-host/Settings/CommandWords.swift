import Glibc
import NevodHost

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

/// Finds a program as posix_spawnp(3) does, but only in a trusted PATH: posix_spawnp would take any user's PATH.
enum ProgramSearch {
    /// Returns the path of an executable file; nil if there is none.
    ///
    /// - Parameters:
    ///   - name: with a slash, a path; `~/` is the home folder.
    ///   - folders: where to look for a name without a slash, separated by colons.
    static func path(of name: String, in folders: String = trustedEnvironment("PATH") ?? "/usr/bin:/bin") -> String? {
        guard !name.utf8.contains(UInt8(ascii: "/")) else {
            let path = HomeFolder.expanding(name)
            return access(path, X_OK) == 0 ? path : nil
        }
        return folders.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }
}

/// The user's home folder.
enum HomeFolder {
    /// Replaces `~/` at the start of a path. Without a home folder, the path stays the same.
    static func expanding(_ path: String) -> String {
        guard path.hasPrefix("~/"), let home = trustedEnvironment("HOME"), home.hasPrefix("/") else { return path }
        return home + path.dropFirst()
    }
}
