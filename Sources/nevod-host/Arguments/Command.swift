enum Command: String, CaseIterable, Sendable {
    /// The default, which needs no word.
    case request
    case sign
    case login
    case logout
    case sessions
    case store
    case inspect
    case completions
    case manual
}

extension Command {
    var operandKind: Flag.ValueKind {
        switch self {
        case .request, .sign: .url
        case .inspect: .plugin
        case .login, .logout, .sessions, .store, .completions, .manual: .text
        }
    }

    /// The words that the first operand may be; empty where it is not a word.
    var operandWords: [String] {
        switch self {
        case .sessions: ["show", "forget"]
        case .store: ["where", "verify", "rekey", "export", "import"]
        case .completions: Completions.Shell.allCases.map(\.rawValue)
        case .request, .sign, .login, .logout, .inspect, .manual: []
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
        case .inspect: "print a plugin's schemes and settings"
        case .completions: "print the completions for a shell"
        case .manual: "print the manual page"
        }
    }
}
