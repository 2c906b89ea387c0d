import Glibc
import NevodHost
import NevodSupport

/// `store`: maintains the store of sessions.
struct StoreCommand {
    let arguments: Arguments
    let console: Console
    private let givenAnswers: CommandLineAnswers
    private let store: SessionStore
    /// The passphrase of an exported file or of an import.
    private let passphrase: PassphrasePrompt

    init(arguments: Arguments, console: Console) throws {
        self.arguments = arguments
        self.console = console
        givenAnswers = try CommandLineAnswers(arguments, console: console)
        store = try SessionStore(arguments, givenAnswers, console)
        passphrase = StoreKeyOption(console: console, givenAnswers: givenAnswers).passphrase(StoreKeyOption.fileAnswer)
    }

    func run() async throws {
        do {
            try await runCommand()
            givenAnswers.warnAboutUnused(.typed)
        } catch let error as UnansweredError {
            givenAnswers.warnAboutUnused(.typed)
            throw error
        }
    }

    private func runCommand() async throws {
        try checkFlags()
        let file = arguments.operands.count == 2 ? try absolutePath(arguments.operands[1]) : nil
        switch (arguments.operands.first, file) {
        case ("where", nil): try await printLocation()
        case ("verify", nil): try await verify()
        case ("rekey", nil): try await rekey()
        case ("export", let file?): try await export(to: file)
        case ("import", let file?): try await importSessions(from: file)
        default:
            let hint = Suggestions.hint(for: arguments.operands.first ?? "", among: Command.store.operandWords)
            throw UsageError("store needs one of where, verify, rekey --key SOURCE, export FILE, import FILE\(hint)")
        }
    }

    /// Refuses a flag that has no effect on the given word.
    private func checkFlags() throws {
        guard let word = arguments.operands.first, Command.store.operandWords.contains(word) else { return }
        for flag in Flag.flags(of: .store) where !flag.storeWords.isEmpty && arguments.has(flag.name) {
            guard !flag.storeWords.contains(word) else { continue }
            let words = flag.storeWords.sorted().joined(separator: ", ")
            throw UsageError("store \(word) takes no --\(flag.long); it belongs to store \(words)")
        }
    }

    private func printLocation() async throws {
        let storage = try await store.openIfExists()
        let count = try await storage?.keys(withPrefix: SessionName.start).count
        if arguments.has(.json) {
            let json = JSON.object([
                ("path", .string(store.path)), ("exists", .bool(storage != nil)),
                ("layout", storage == nil ? .null : store.layout.map(JSON.number) ?? .null), ("sessions", .number(count ?? 0)),
                ("sealed_by", storage.map { .string($0.keyKind) } ?? .null),
            ])
            return try output(json.text)
        }
        guard let storage, let count else { return try output("\(store.path)\ndoes not exist yet: nevod-host login creates it") }
        let layout = store.layout.map { "layout     \($0)\n" } ?? ""
        try output("\(store.path)\n\(layout)sessions   \(count)\nsealed by  \(store.seal(of: storage))")
    }

    private func verify() async throws {
        let found = try await store.open().verify()
        guard found.problems.isEmpty else { throw VerificationError(path: store.path, problems: found.problems) }
        let values =
            switch found.values {
            case 0: " and empty"
            case 1: "; its value opens"
            default: "; all \(found.values) values open"
            }
        try output("\(store.path) is intact\(values)")
    }

    private func rekey() async throws {
        guard let text = arguments.value(.newKey) else {
            throw UsageError("store rekey needs --key secret-service, file:PATH, env:VARIABLE or passphrase")
        }
        let option = StoreKeyOption(console: console, givenAnswers: givenAnswers)
        let source = try option.source(text, "--key", answer: StoreKeyOption.fileAnswer)
        let storage = try await store.open()
        try await storage.rekey(source)
        try output("\(store.path) has a new key and is sealed by \(source.description)")
        // The store doesn't know the path of a key file or the name of a variable, so later commands must name it.
        guard text.contains(":") else { return }
        let absolute = text.hasPrefix("file:") ? "file:\(try absolutePath(String(text.dropFirst(5))))" : text
        console.inform("the store now opens with --store-key \(ShellWord.quoted(absolute))")
    }

    private func export(to file: String) async throws {
        let storage = try await store.open()
        guard access(file, F_OK) != 0 else {
            throw StorageError(.other, file, problem: "exists already", remedy: "choose another name, or move it elsewhere")
        }
        // Asks before the file is created, so that a cancelled command leaves no file.
        _ = try await passphrase.secret(isNew: true)
        let count = try await storage.export(to: file, key: passphrase.source)
        try output("\(Self.sessions(count)) written to \(file), sealed by its passphrase")
    }

    private func importSessions(from file: String) async throws {
        guard access(file, F_OK) == 0 else { throw InputError(file, errno) }
        let storage = try await store.openOrCreate()
        let done = try await storage.importValues(from: file, key: passphrase.source, replacing: arguments.has(.replace))
        let kept =
            done.kept == 0 ? "" : "; \(Self.sessions(done.kept)) already stored and left unchanged; --replace replaces them"
        try output("\(Self.sessions(done.taken)) imported from \(file)\(kept)")
    }

    private static func sessions(_ count: Int) -> String { "\(count) session\(count == 1 ? "" : "s")" }
}

/// The damage that `store verify` found.
struct VerificationError: Error, CustomStringConvertible {
    let path: String
    let problems: [String]

    var description: String {
        "\(path): \(problems.count) of its parts \(problems.count == 1 ? "is" : "are") damaged: "
            + problems.joined(separator: "; ")
    }
}
