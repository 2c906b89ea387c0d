enum Command: String, CaseIterable, Sendable {
    /// The default, which needs no word.
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

    /// The words that the first operand may be; empty where it is not a word.
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
        case .header: "print the lines that authorize a request, for another program"
        case .run: "run a program with a token in its environment"
        case .credential: "give credentials to git, docker, kubectl or a netrc file"
        case .profile: "write, list, check and change the profiles of the config file"
        case .record: "run a command, and write what its plugin did to a file"
        case .replay: "run a recorded plugin's calls again, and print what differs"
        case .inspect: "print a plugin's schemes and settings"
        case .check: "try whether a plugin keeps the contract"
        case .new: "make a folder with a scheme of your own, its tests and its build"
        case .completions: "print the completions for a shell"
        case .manual: "print the manual page"
        case .help: "explain a topic, a command or an option"
        }
    }
}
