/// Finds the word of a command line that names its command.
enum CommandWord {
    /// Moves a command that stands behind flags, as in `-v login`, to the front. The first word that is neither a flag nor a flag's
    /// value is the command, if it names one.
    static func first(_ words: [[UInt8]]) -> [[UInt8]] {
        guard words.first?.first == UInt8(ascii: "-") else { return words }
        var index = 0
        while index < words.count {
            guard let word = String(validating: words[index], as: UTF8.self), word != "-", word != "--" else { return words }
            guard word.hasPrefix("-") else {
                guard Command.words.contains(word) else { return words }
                return [words[index]] + words[..<index] + words[(index + 1)...]
            }
            guard let takesNext = takesNextWord(word) else { return words }
            index += takesNext ? 2 : 1
        }
        return words
    }

    /// Whether the value of a flag, or of the last letter, is the next word; nil for an unknown flag.
    private static func takesNextWord(_ word: String) -> Bool? {
        if word.hasPrefix("--") {
            let name = word.dropFirst(2).prefix { $0 != "=" }
            guard let flag = flag({ $0.long == name }) else {
                return name.hasPrefix("no-") && flag({ $0.long == name.dropFirst(3) }) != nil ? false : nil
            }
            return flag.value != nil && name.count == word.count - 2
        }
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let flag = flag({ $0.short == letter }) else { return nil }
            if flag.value != nil { return letters.isEmpty }
        }
        return false
    }

    /// Prefers a request's flag: `--json sessions` stays a request with data.
    private static func flag(_ isMeant: (Flag) -> Bool) -> Flag? {
        let flags = Flag.all.filter(isMeant)
        return flags.first { $0.commands.contains(.request) } ?? flags.first
    }

    /// Refuses a mistyped command, which would be taken for the name of a host, an option whose hyphens a word processor replaced, and a
    /// plugin's path. With a profile, a word is a relative URL.
    static func check(_ operands: [String], _ flags: [(name: Flag.Name, value: String)]) throws(UsageError) {
        for word in operands where word.hasPrefix("\u{2013}") || word.hasPrefix("\u{2014}") {
            throw UsageError("the dash that \(word) begins with is not a hyphen; type it as - or --")
        }
        if let path = operands.first, path.hasSuffix(".so"), ["/", "./", "../"].contains(where: path.hasPrefix) {
            throw UsageError("\(path) is not a URL; a plugin is given by --plugin \(ShellWord.quoted(path))")
        }
        guard let word = operands.first, !flags.contains(where: { $0.name == .profile }), mayBeMistyped(word) else { return }
        let hint = Suggestions.hint(for: word, among: Command.words)
        guard !hint.isEmpty else { return }
        throw UsageError("no command \(word)\(hint) To request the host \(word), write http://\(word)")
    }

    /// Whether a word looks like a command: no dot, slash or colon of a URL, and not in capitals as a method is.
    private static func mayBeMistyped(_ word: String) -> Bool {
        word != "localhost" && word.utf8.contains { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
            && word.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"): true
                default: false
                }
            }
    }
}
