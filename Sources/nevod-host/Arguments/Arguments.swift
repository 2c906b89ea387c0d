import NevodHost
import NevodSupport

/// The parsed command line: the command, its flags in order, and the operands.
struct Arguments: Sendable {
    let command: Command
    let flags: [(name: Flag.Name, value: String)]
    /// The flags from the command line, without a profile's.
    let typed: [(name: Flag.Name, value: String)]
    /// The operands. For a request or `sign`: the URLs, without their shorthands.
    let operands: [String]
    /// The shorthands of each URL of a request or `sign`.
    let shorthands: [Shorthand]
    /// The groups after each `--next`, in order. Each includes the flags that apply to all groups.
    private(set) var laterGroups: [Arguments] = []
    /// Warnings about files of flags.
    private(set) var fileWarnings: [String] = []
    /// The file to record this command in, for `record`.
    var recording: RecordingTarget?
    /// The flags that `--no-NAME` removes, even from a profile.
    let undone: Set<Flag.Name>
    /// The profile that has been merged into ``flags``.
    var profile: Profile?
    /// The URLs of all transfers that share this one's credential; nil if it shares none.
    private(set) var authorizedURLs: [String]?

    /// - Parameter words: the command line without the program's name, as bytes.
    init(_ words: [[UInt8]]) throws {
        let given = CommandWord.first(words)
        var words = try Self.decoded(given)[...]
        if words.first == Command.record.rawValue {
            self = try Self.recorded(given, &words)
            return
        }
        var chosen = Command.request
        if let word = words.first, let command = Command(rawValue: word), command != .request {
            chosen = command
            words.removeFirst()
        }
        let command = chosen
        var groups = ArgumentGroups(command)
        var flagsEnded = false
        while let word = words.popFirst() {
            if flagsEnded || word == "-" || command == .help && !["-h", "--help"].contains(word) || !word.hasPrefix("-") {
                groups.append(.word(word))
                // All further words belong to the program to run.
                if command == .run { flagsEnded = true }
            } else if word == "--" {
                flagsEnded = true
            } else if let name = Self.undone(by: word, command) {
                groups.undo(name)
            } else if word.hasPrefix("--") {
                try groups.append(try Self.long(word, &words, command))
            } else {
                for flag in try Self.short(word, &words, command) { try groups.append(flag) }
            }
        }
        let parsed = try groups.arguments()
        if command == .request { try CommandWord.check(parsed.operands, parsed.flags) }
        self = parsed
    }

    /// Parses `record [options] FILE COMMAND…`.
    private static func recorded(_ given: [[UInt8]], _ words: inout ArraySlice<String>) throws -> Arguments {
        words.removeFirst()
        var flags: [(name: Flag.Name, value: String)] = []
        while let word = words.first, word.hasPrefix("-"), word != "-" {
            words.removeFirst()
            flags += word.hasPrefix("--") ? [try long(word, &words, .record)] : try short(word, &words, .record)
        }
        guard let file = words.popFirst() else { return Arguments(.record, flags, typed: flags, []) }
        var command = try Arguments(Array(given[words.startIndex...]))
        guard command.recording == nil, [.request, .sign, .login, .logout].contains(command.command) else {
            throw UsageError("record takes a request, sign, login or logout after its FILE, not \(command.command.rawValue)")
        }
        let has = { (name: Flag.Name) in flags.contains { $0.name == name } }
        command.recording = RecordingTarget(file: file, keepsSecrets: has(.keepSecrets), replaces: has(.force))
        return command
    }

    /// - Parameter shorthands: one for each operand, or none.
    init(
        _ command: Command, _ flags: [(name: Flag.Name, value: String)], typed: [(name: Flag.Name, value: String)],
        _ operands: [String], _ shorthands: [Shorthand] = [], laterGroups: [Arguments] = [], fileWarnings: [String] = [],
        undone: Set<Flag.Name> = []
    ) {
        self.command = command
        self.flags = flags
        self.typed = typed
        self.operands = operands
        self.shorthands = shorthands
        self.laterGroups = laterGroups
        self.fileWarnings = fileWarnings
        self.undone = undone
    }

    /// Returns a part of this command, such as one transfer.
    func replacing(
        _ flags: [(name: Flag.Name, value: String)], typed: [(name: Flag.Name, value: String)], _ urls: [String],
        _ shorthands: [Shorthand]
    ) -> Arguments {
        var operation = Arguments(command, flags, typed: typed, urls, shorthands, undone: undone)
        operation.recording = recording
        operation.profile = profile
        return operation
    }

    /// Returns these arguments with the URLs that share their credential.
    func authorizing(_ urls: [String]) -> Arguments {
        var shared = self
        shared.authorizedURLs = urls
        return shared
    }

    /// Returns the same arguments, with a scheme added to each URL without one.
    func completingURLs() throws(UsageError) -> Arguments {
        guard command.operandKind == .url else { return self }
        if !has(.globOff) {
            for operand in operands { try OperandURL.checkPatterns(operand) }
        }
        var later: [Arguments] = []
        for group in laterGroups { later.append(try group.completingURLs()) }
        var completed = Arguments(
            command, flags, typed: typed, operands.map(OperandURL.absolute), shorthands, laterGroups: later,
            fileWarnings: fileWarnings, undone: undone)
        completed.recording = recording
        completed.profile = profile
        return completed
    }

    /// Returns the same arguments with other operands.
    ///
    /// - Parameter dropped: the flag to leave out.
    func with(operands: [String], without dropped: Flag.Name? = nil) -> Arguments {
        var changed = Arguments(
            command, flags.filter { $0.name != dropped }, typed: typed.filter { $0.name != dropped }, operands,
            laterGroups: laterGroups, undone: undone)
        changed.recording = recording
        changed.profile = profile
        return changed
    }

    /// Returns the flag that `--no-NAME` removes; nil for any other word, even a flag whose own name begins with `no-`.
    private static func undone(by word: String, _ command: Command) -> Flag.Name? {
        guard word.hasPrefix("--no-") else { return nil }
        let flags = Flag.flags(of: command)
        guard !flags.contains(where: { $0.long == word.dropFirst(2) }) else { return nil }
        return flags.first { $0.long == word.dropFirst(5) }?.name
    }

    /// Decodes words as UTF-8. In a URL, other bytes are percent-encoded. Elsewhere they are an error: a silent repair would
    /// change what is sent.
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

    /// A profile can set `-v`, but sensitive details are shown only if `-v` is typed twice.
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
    static func long(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: Command
    ) throws(UsageError) -> (name: Flag.Name, value: String) {
        let text = word.dropFirst(2)
        let name = text.prefix { $0 != "=" }
        guard let flag = Flag.all.first(where: { $0.isNamed(name) && $0.commands.contains(command) }) else {
            throw UsageError(
                "unknown option --\(name)\(elsewhere { $0.isNamed(name) } ?? CurlFlag.hint(forLong: name) ?? Suggestions.hint(forFlag: String(name), of: command))"
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

    /// Parses `-svo file` and `-ofile`: flags without a value may be joined, and a value may be attached.
    static func short(
        _ word: String, _ rest: inout ArraySlice<String>, _ command: Command
    ) throws(UsageError) -> [(name: Flag.Name, value: String)] {
        var found: [(name: Flag.Name, value: String)] = []
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let flag = Flag.all.first(where: { $0.short == letter && $0.commands.contains(command) }) else {
                throw UsageError(
                    "unknown option -\(letter)\(elsewhere { $0.short == letter } ?? CurlFlag.hint(forShort: letter) ?? "; see nevod-host --help")"
                )
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
        let commands = flag.commands == [.profile] ? flag.commands : flag.commands.subtracting([.profile])
        let names = commands.elements.map { $0 == .request ? "a request" : $0.rawValue }.sorted()
        return " here; it belongs to \(names.joined(separator: ", "))"
    }
}

/// Reports a command line that can't be used.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
