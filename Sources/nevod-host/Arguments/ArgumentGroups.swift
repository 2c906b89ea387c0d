import NevodHost

/// Collects flags and operands in groups separated by `--next`.
struct ArgumentGroups {
    enum Operand {
        /// A word of the command line; for a request, a URL or a shorthand.
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
            guard groups.last?.operands.isEmpty == false else { throw UsageError("--next needs a URL before it") }
            groups.append(Group())
        case .url: append(.url(flag.value))
        case .config:
            groups[groups.count - 1].flags.append(flag)
            let file = try FlagFile(path: flag.value)
            if let warning = try file.read(of: command, { try append($0) }) { warnings.append(warning) }
        default: groups[groups.count - 1].flags.append(flag)
        }
    }

    /// Removes the flag where it was given earlier in the group, or in the profile.
    mutating func undo(_ name: Flag.Name) {
        groups[groups.count - 1].flags.removeAll { $0.name == name }
        groups[groups.count - 1].undone.insert(name)
    }

    /// Returns the parsed arguments. Flags that apply to all groups are added to each.
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
        guard made.count == 1 || made.last?.operands.isEmpty == false else { throw UsageError("--next needs a URL after it") }
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
    /// Whether a flag in one group applies to all groups, as curl's global flags and flags for the whole process do.
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

extension Arguments {
    /// The transfers of a request, in order. Each has one URL, the flags of its group, and its own output and upload.
    ///
    /// As in curl, the n-th `-o` or `-O` of a group belongs to the group's n-th URL, and so does the n-th `-T`. A URL without an
    /// output is written to standard output.
    var operations: [Arguments] {
        get throws {
            try ([self] + laterGroups).flatMap { try $0.ownOperations }
        }
    }

    /// The items after the only URL of an operation.
    var items: [RequestItem] { shorthands.first?.items ?? [] }

    private var ownOperations: [Arguments] {
        get throws {
            guard !operands.isEmpty else { throw UsageError("no URL given; see nevod-host --help") }
            let outputs = paired(\.isOutput)
            let uploads = paired { $0 == .uploadFile }
            try checkCount(outputs, "-o and -O")
            try checkCount(uploads, "-T")
            return try operands.indices.map { index in
                let shorthand = shorthands.indices.contains(index) ? shorthands[index] : Shorthand()
                var own = [outputs, uploads].compactMap { $0.indices.contains(index) ? $0[index] : nil }
                if !outputs.indices.contains(index), has(.remoteNameAll) { own.append((.remoteName, "")) }
                own += try shorthand.flags(has(.method))
                let shared = { (flags: [(name: Flag.Name, value: String)]) in
                    flags.filter { !$0.name.isOutput && $0.name != .uploadFile } + own
                }
                let operation = replacing(shared(flags), typed: shared(typed), [operands[index]], [shorthand])
                try OutputFile.checkName(operation)
                return operation
            }
        }
    }

    /// The flags of a kind, one for each URL. Typed flags replace a profile's.
    private func paired(_ isMeant: (Flag.Name) -> Bool) -> [(name: Flag.Name, value: String)] {
        let typed = typed.filter { isMeant($0.name) }
        return typed.isEmpty ? flags.filter { isMeant($0.name) } : typed
    }

    private func checkCount(_ given: [(name: Flag.Name, value: String)], _ what: String) throws(UsageError) {
        // A profile's output isn't meant for a particular URL.
        guard given.count > max(1, operands.count) else { return }
        throw UsageError(
            "\(what) are given \(given.count) times, but there \(operands.count == 1 ? "is 1 URL" : "are \(operands.count) URLs")"
        )
    }
}

extension Flag.Name {
    /// Whether the flag says where the body of one URL is written.
    fileprivate var isOutput: Bool { self == .output || self == .remoteName }
}
