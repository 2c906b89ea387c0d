import NevodHost
import NevodSupport

/// The parsed command line: the command, its flags in order, and the operands.
struct Arguments {
    let command: Command
    let flags: [(name: Flag.Name, value: String)]
    /// The flags from the command line, without those of a profile.
    let typed: [(name: Flag.Name, value: String)]
    let operands: [String]

    /// - Parameter words: the command line without the program's name, as bytes.
    init(_ words: [[UInt8]]) throws(UsageError) {
        var words = try Self.decoded(words)[...]
        var chosen = Command.request
        if let word = words.first, let command = Command(rawValue: word), command != .request {
            chosen = command
            words.removeFirst()
        }
        let command = chosen
        var flags: [(name: Flag.Name, value: String)] = []
        var operands: [String] = []
        var flagsEnded = false
        while let word = words.popFirst() {
            if flagsEnded || word == "-" || !word.hasPrefix("-") {
                operands.append(word)
            } else if word == "--" {
                flagsEnded = true
            } else if word.hasPrefix("--") {
                flags.append(try Self.long(word, &words, command))
            } else {
                flags += try Self.short(word, &words, command)
            }
        }
        self.init(command, flags, typed: flags, operands)
    }

    private init(
        _ command: Command, _ flags: [(name: Flag.Name, value: String)], typed: [(name: Flag.Name, value: String)],
        _ operands: [String]
    ) {
        self.command = command
        self.flags = flags
        self.typed = typed
        self.operands = operands
    }

    /// Adds a profile's flags in front, so that those of the command line win, and resolves relative URLs against its base.
    func merging(_ profile: Profile) -> Arguments {
        Arguments(
            command, profile.flags(for: command) + flags, typed: typed,
            command.operandKind == .url ? operands.map(profile.url(for:)) : operands)
    }

    /// Refuses a second reader of standard input, which would silently read nothing.
    func checkStandardInput() throws(UsageError) {
        let readers = flags.count { given in
            Flag.all.first { $0.name == given.name }?.value?.standardInput?.isNamed(by: given.value) ?? false
        }
        guard readers <= 1 else { throw UsageError("standard input can be read only once, but \(readers) options read it") }
    }

    /// Percent-encodes the bytes of a URL that are not UTF-8. Any other word must be UTF-8: a silent repair would change what is sent.
    private static func decoded(_ words: [[UInt8]]) throws(UsageError) -> [String] {
        var texts: [String] = []
        for word in words {
            if let text = String(validating: word, as: UTF8.self) {
                texts.append(text)
            } else if word.first != UInt8(ascii: "-"), word.starts(with: Array("http".utf8)) {
                texts.append(PercentEncoding.withoutNonASCII(word))
            } else {
                throw UsageError("an argument is not UTF-8; pass such bytes in a file, with @FILE or file:PATH")
            }
        }
        return texts
    }

    func has(_ name: Flag.Name) -> Bool {
        flags.contains { $0.name == name }
    }

    /// A profile can ask for `-v`, but only a person who types it twice for sensitive details.
    var verbosity: Console.Verbosity {
        guard has(.verbose) else { return .none }
        return typed.count { $0.name == .verbose } > 1 ? .details : .conversation
    }

    /// Returns the last value of a flag; nil if it was not given.
    func value(_ name: Flag.Name) -> String? {
        flags.last { $0.name == name }?.value
    }

    func values(_ name: Flag.Name) -> [String] {
        flags.filter { $0.name == name }.map(\.value)
    }

    /// Parses `--name value` and `--name=value`.
    private static func long(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: Command
    ) throws(UsageError) -> (name: Flag.Name, value: String) {
        let text = word.dropFirst(2)
        let name = text.prefix { $0 != "=" }
        guard let flag = Flag.all.first(where: { $0.long == name && $0.commands.contains(command) }) else {
            throw UsageError(
                "unknown option --\(name)\(elsewhere { $0.long == name } ?? Suggestions.hint(forFlag: String(name), of: command))"
            )
        }
        let attached = name.count < text.count ? String(text.dropFirst(name.count + 1)) : nil
        guard let placeholder = flag.value?.placeholder else {
            guard attached == nil else { throw UsageError("--\(name) takes no value") }
            return (flag.name, "")
        }
        guard let value = attached ?? rest.popFirst(), !value.isEmpty || flag.mayBeEmpty else {
            throw UsageError("--\(name) needs a value: --\(name) \(placeholder)")
        }
        return (flag.name, value)
    }

    /// Parses `-svo file` and `-ofile`: letters of flags without a value may be joined, and a value may be attached.
    private static func short(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: Command
    ) throws(UsageError) -> [(name: Flag.Name, value: String)] {
        var found: [(name: Flag.Name, value: String)] = []
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let flag = Flag.all.first(where: { $0.short == letter && $0.commands.contains(command) }) else {
                throw UsageError("unknown option -\(letter)\(elsewhere { $0.short == letter } ?? "; see nevod-host --help")")
            }
            guard let placeholder = flag.value?.placeholder else {
                found.append((flag.name, ""))
                continue
            }
            guard let value = letters.isEmpty ? rest.popFirst() : String(letters), !value.isEmpty || flag.mayBeEmpty else {
                throw UsageError("-\(letter) needs a value: -\(letter) \(placeholder)")
            }
            found.append((flag.name, value))
            break
        }
        return found
    }

    private static func elsewhere(_ isMeant: (Flag) -> Bool) -> String? {
        guard let flag = Flag.all.first(where: isMeant) else { return nil }
        return
            " here; it belongs to \(flag.commands.map { $0 == .request ? "a request" : $0.rawValue }.sorted().joined(separator: ", "))"
    }
}

/// Reports a command line that can't be used.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
