import Glibc
import NevodHost

/// Answers a shell that completes a word: settings, parameters, schemes, accounts, sessions, and the words of `credential`. It asks no
/// question, sends nothing, and prints no error.
///
/// Not a command for people: the scripts of `completions` call `nevod-host complete-for-shell KIND WORD…`, where the words are those up to
/// the cursor, and print a candidate in each line.
struct CompletionQuery {
    private static let word = "complete-for-shell"
    /// The seconds after which a slow plugin, or a store that another process holds, ends the query.
    private static let patience: UInt32 = 3

    static func isMeant(by words: [[UInt8]]) -> Bool { words.first?.elementsEqual(word.utf8) == true }

    static func main(_ words: [[UInt8]]) -> Never {
        alarm(patience)
        Terminal.forbid()
        // A plugin's own output is no candidate, and its crash is no news.
        let output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard output >= 0, nowhere >= 0, dup2(nowhere, STDOUT_FILENO) >= 0, dup2(nowhere, STDERR_FILENO) >= 0 else { _exit(0) }
        let texts = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
        guard let kind = texts.first, let last = texts.dropFirst().last else { _exit(0) }
        let query = CompletionQuery(words: Array(texts.dropFirst(1).dropLast()), current: last)
        Task {
            let found = await query.candidates(kind).filter { candidate in
                candidate.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            }
            try? FileDescriptor(number: output, name: "standard output").write(
                Array(found.map { "\($0)\n" }.joined().utf8).span)
            _exit(0)
        }
        while true { pause() }
    }

    /// The words before the cursor's.
    let words: [String]
    /// The cursor's word, or the part of it that is a flag's value.
    let current: String

    private func candidates(_ kind: String) async -> [String] {
        switch kind {
        case Flag.ValueKind.format.rawValue: CredentialFormat.allCases.map(\.rawValue)
        case Flag.ValueKind.scheme.rawValue: plugin()?.schemes.map(\.id) ?? []
        case Flag.ValueKind.setting.rawValue: Self.assignments(of: schemes().flatMap(\.settings), current) + presets()
        case Flag.ValueKind.parameter.rawValue: Self.assignments(of: schemes().flatMap(\.parameters), current)
        case Flag.ValueKind.account.rawValue: await sessions().map(\.account)
        case "session": await sessions().flatMap { [$0.account, $0.profile] }.filter { !$0.isEmpty }
        case "operation": CredentialHelper(rawValue: words.last ?? "")?.operations ?? []
        default: []
        }
    }

    /// Returns `NAME=` for each setting, and behind `NAME=` its choices, or the sources of a value.
    static func assignments(of settings: [SchemeSetting], _ current: String) -> [String] {
        guard let equals = current.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            return Set(settings.map { "\($0.name)=" }).sorted()
        }
        let name = String(current[..<equals])
        guard let setting = settings.first(where: { $0.name == name }) else { return [] }
        let values =
            switch setting.kind {
            case .choice: setting.choices
            case .boolean: ["true", "false"]
            default: setting.isSecret ? ["env:", "file:"] : setting.defaultValue.map { [$0] } ?? []
            }
        return values.map { "\(name)=\($0)" }
    }

    /// Returns `preset=`, and behind it the names of the presets; and `NAME=` for what the chosen preset needs.
    private func presets() -> [String] {
        let lead = "\(SchemePreset.settingName)="
        let schemes = schemes().filter { scheme in !scheme.settings.contains { $0.name == SchemePreset.settingName } }
        if current.utf8.starts(with: lead.utf8) { return schemes.flatMap { SchemePreset.names(for: $0) }.map { lead + $0 } }
        guard !current.utf8.contains(UInt8(ascii: "=")) else { return [] }
        let console = Console(isSilent: true, verbosity: .none)
        return schemes.flatMap { scheme -> [String] in
            guard !SchemePreset.names(for: scheme).isEmpty else { return [] }
            let chosen = arguments()?.values(.set).filter { $0.utf8.starts(with: lead.utf8) } ?? []
            let preset = try? SettingSource(scheme: scheme, console: console).preset(chosen)
            return preset.map { $0.placeholders.map { "\($0.name)=" } } ?? [lead]
        }
    }

    /// The command line so far, as far as it can be understood, with the flags of its profile.
    private func arguments() -> Arguments? {
        var words = words
        // The last one may be the flag whose value is completed.
        var parsed = try? Arguments(words.map { Array($0.utf8) })
        while parsed == nil, !words.isEmpty {
            words.removeLast()
            parsed = try? Arguments(words.map { Array($0.utf8) })
        }
        guard let parsed, let name = parsed.value(.profile) else { return parsed }
        guard let profile = try? HelperProfile.profiles().first(where: { $0.name == name }) else { return parsed }
        return parsed.merging(profile, folder: ConfigFile.folder)
    }

    private func plugin() -> Plugin? {
        let arguments = arguments()
        let name = arguments?.command == .check ? arguments?.operands.first : arguments?.value(.plugin)
        return name.flatMap { try? Plugin(named: $0) }
    }

    /// The scheme that is chosen, or all of the plugin.
    private func schemes() -> [Scheme] {
        guard let plugin = plugin() else { return [] }
        guard let id = arguments()?.value(.scheme) else { return plugin.schemes }
        return plugin.schemes.filter { $0.id == id }
    }

    /// The sessions of the profile or plugin, if one is given. Their names are not secret, but the store has to be opened.
    private func sessions() async -> [SessionName] {
        guard let arguments = arguments() else { return [] }
        let console = Console(isSilent: true, verbosity: .none)
        guard let answers = try? CommandLineAnswers(arguments, console: console),
            let store = try? SessionStore(arguments, answers, console), let storage = try? await store.openIfExists(),
            let keys = try? await storage.keys(withPrefix: SessionName.start)
        else { return [] }
        let profile = arguments.value(.profile)
        return keys.compactMap(SessionName.init).filter { profile == nil || $0.profile == profile }
    }
}
