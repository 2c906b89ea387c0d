/// Commands as the bits of a number: the table of flags has one for each flag, and is made at every start.
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
