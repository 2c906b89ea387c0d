import NevodSupport

enum Command: String, CaseIterable, Sendable {
    /// The default command, which has no word.
    case request
    case sign
    case login
    case logout
    case sessions
    case store
    case header
    case run
    case credential
    case profile
    case record
    case replay
    case inspect
    case check
    case new
    case completions
    case manual
    case help
}

extension Command {
    var operandKind: Flag.ValueKind {
        switch self {
        case .request, .sign, .header: .url
        case .inspect, .check: .plugin
        case .record, .replay: .file
        case .login, .logout, .sessions, .store, .run, .credential, .profile, .new, .completions, .manual, .help: .text
        }
    }

    /// The words to choose from for the first operand; empty if it can be any text.
    var operandWords: [String] {
        switch self {
        case .sessions: ["show", "forget"]
        case .store: ["where", "verify", "rekey", "export", "import"]
        case .credential: CredentialHelper.allCases.map(\.rawValue)
        case .profile: ["add", "list", "show", "edit", "check", "remove", "rename", "default"]
        case .completions: Completions.Shell.allCases.map(\.rawValue)
        case .request, .sign, .login, .logout, .header, .run, .record, .replay, .inspect, .check, .new, .manual: []
        case .help: HelpTopic.all.map(\.name) + Self.words
        }
    }

    /// The words that name a command.
    static var words: [String] { allCases.filter { $0 != .request }.map(\.rawValue) }

    /// One line for a list of commands.
    var summary: String {
        switch self {
        case .request: "send a request"
        case .sign: "print the authorized request instead of sending it"
        case .login: "log in and keep the session for later commands"
        case .logout: "end a session"
        case .sessions: "list the stored sessions"
        case .store: "maintain the store of sessions"
        case .header: "print the header lines that authorize another program's request"
        case .run: "run a program with a token in its environment"
        case .credential: "give credentials to git, docker, kubectl or a netrc file"
        case .profile: "add, list, check and change the profiles of the config file"
        case .record: "run a command, and record its plugin's calls in a file"
        case .replay: "repeat a plugin's recorded calls, and print what differs"
        case .inspect: "print a plugin's schemes and settings"
        case .check: "check whether a plugin keeps the contract"
        case .new: "create a project for a scheme of your own, with tests and a build"
        case .completions: "print the completions for a shell"
        case .manual: "print the manual page"
        case .help: "explain a topic, a command or an option"
        }
    }
}

/// A set of commands, stored as the bits of a number. It has to be cheap: each flag has a set, and the table of flags is built at
/// every start.
struct CommandSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    private var bits: UInt32

    private init(bits: UInt32) { self.bits = bits }

    init(arrayLiteral commands: Command...) { self.init(commands) }

    init(_ commands: [Command]) {
        bits = commands.reduce(0) { $0 | $1.bit }
    }

    func contains(_ command: Command) -> Bool { bits & command.bit != 0 }

    func union(_ other: CommandSet) -> CommandSet { CommandSet(bits: bits | other.bits) }

    func subtracting(_ other: CommandSet) -> CommandSet { CommandSet(bits: bits & ~other.bits) }

    func isDisjoint(with other: CommandSet) -> Bool { bits & other.bits == 0 }

    /// In the order of their declaration.
    var elements: [Command] { Command.allCases.filter(contains) }
}

extension Command {
    fileprivate var bit: UInt32 {
        switch self {
        case .request: 1 << 0
        case .sign: 1 << 1
        case .login: 1 << 2
        case .logout: 1 << 3
        case .sessions: 1 << 4
        case .store: 1 << 5
        case .header: 1 << 6
        case .run: 1 << 7
        case .credential: 1 << 8
        case .profile: 1 << 9
        case .record: 1 << 10
        case .replay: 1 << 11
        case .inspect: 1 << 12
        case .check: 1 << 13
        case .new: 1 << 14
        case .completions: 1 << 15
        case .manual: 1 << 16
        case .help: 1 << 17
        }
    }
}

/// Finds the word of a command line that names its command.
enum CommandWord {
    /// Moves a command after flags, as in `-v login`, to the front. The first word that is neither a flag nor a flag's value is
    /// the command, if it names one.
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

    /// Whether a flag takes the next word as its value; for joined short flags, whether the last one does. Nil for an unknown
    /// flag.
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

    /// Prefers a request's flag, so that `--json sessions` is a request with data.
    private static func flag(_ isMeant: (Flag) -> Bool) -> Flag? {
        let flags = Flag.all.filter(isMeant)
        return flags.first { $0.commands.contains(.request) } ?? flags.first
    }

    /// Refuses operands that are probably mistakes: a mistyped command, which would be taken for a host name; an option with
    /// dashes that a word processor put in place of hyphens; a plugin's path. With a profile, a single word is accepted as a
    /// relative URL.
    static func check(_ operands: [String], _ flags: [(name: Flag.Name, value: String)]) throws(UsageError) {
        for word in operands where word.hasPrefix("\u{2013}") || word.hasPrefix("\u{2014}") {
            throw UsageError("the dash that \(word) begins with is not a hyphen; type it as - or --")
        }
        if let path = operands.first, path.hasSuffix(".so"), ["/", "./", "../"].contains(where: path.hasPrefix) {
            throw UsageError("\(path) is not a URL; to use a plugin, write --plugin \(ShellWord.quoted(path))")
        }
        guard let word = operands.first, !flags.contains(where: { $0.name == .profile }), mayBeMistyped(word) else { return }
        let hint = Suggestions.hint(for: word, among: Command.words)
        guard !hint.isEmpty else { return }
        throw UsageError("no command \(word)\(hint) To request the host \(word), write http://\(word)")
    }

    /// Whether a word looks like a command: only letters and hyphens, unlike a URL, and not only capitals, unlike a method.
    private static func mayBeMistyped(_ word: String) -> Bool {
        word != "localhost" && word.utf8.contains(where: \.isLowercase)
            && word.utf8.allSatisfy { $0.isLetter || $0 == UInt8(ascii: "-") }
    }
}
