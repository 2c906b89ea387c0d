/// Collects flags and operands in groups, which `--next` separates.
struct ArgumentGroups {
    enum Operand {
        /// A word of the command line: of a request, a URL or a word around one.
        case word(String)
        /// The value of `--url`.
        case url(String)
    }

    private struct Group {
        var flags: [(name: Flag.Name, value: String)] = []
        var operands: [Operand] = []
        /// The names of `--no-NAME`.
        var undone: Set<Flag.Name> = []
    }

    private let command: Command
    private var groups = [Group()]
    private var warnings: [String] = []

    init(_ command: Command) {
        self.command = command
    }

    mutating func append(_ operand: Operand) {
        groups[groups.count - 1].operands.append(operand)
    }

    mutating func append(_ flag: (name: Flag.Name, value: String)) throws {
        switch flag.name {
        case .next:
            guard groups.last?.operands.isEmpty == false else { throw UsageError("--next needs a URL in front of it") }
            groups.append(Group())
        case .url: append(.url(flag.value))
        case .config:
            groups[groups.count - 1].flags.append(flag)
            let file = try FlagFile(path: flag.value)
            if let warning = try file.read(of: command, { try append($0) }) { warnings.append(warning) }
        default: groups[groups.count - 1].flags.append(flag)
        }
    }

    /// Takes back what earlier flags of the group gave, and what a profile gives.
    mutating func undo(_ name: Flag.Name) {
        groups[groups.count - 1].flags.removeAll { $0.name == name }
        groups[groups.count - 1].undone.insert(name)
    }

    /// Gives the flags that hold for all groups to each of them.
    func arguments() throws(UsageError) -> Arguments {
        let global = groups.count > 1 ? groups.flatMap(\.flags).filter(\.name.isGlobal) : []
        let globallyUndone = groups.reduce(into: Set()) { $0.formUnion($1.undone.filter(\.isGlobal)) }
        var made: [Arguments] = []
        for group in groups {
            let flags = groups.count > 1 ? global + group.flags.filter { !$0.name.isGlobal } : group.flags
            let undone = group.undone.union(globallyUndone)
            guard command.operandKind == .url else {
                made.append(Arguments(command, flags, typed: flags, group.operands.map(\.text), undone: undone))
                continue
            }
            let transfers = try Shorthand.transfers(group.operands)
            made.append(Arguments(command, flags, typed: flags, transfers.map(\.url), transfers.map(\.shorthand), undone: undone))
        }
        guard let first = made.first, made.count > 1 || !warnings.isEmpty else {
            return made.first ?? Arguments(command, [], typed: [], [])
        }
        guard made.count == 1 || made.last?.operands.isEmpty == false else { throw UsageError("--next needs a URL behind it") }
        return Arguments(
            command, first.flags, typed: first.flags, first.operands, first.shorthands, laterGroups: Array(made.dropFirst()),
            fileWarnings: warnings, undone: first.undone)
    }
}

extension ArgumentGroups.Operand {
    var text: String {
        switch self {
        case .word(let text), .url(let text): text
        }
    }
}

extension Flag.Name {
    /// Whether a flag in one group of `--next` holds for all of them: those of curl that do, and those of the process as a whole.
    var isGlobal: Bool {
        switch self {
        case .verbose, .silent, .showError, .parallel, .parallelMax, .failEarly, .maxTime, .profile, .store, .storeKey, .noStore,
            .debuggable,
            .help, .version:
            true
        default: false
        }
    }
}
