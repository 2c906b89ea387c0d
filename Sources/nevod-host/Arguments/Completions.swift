import Glibc
import NevodHost
import NevodSupport

/// Completion scripts, generated from the table of flags.
///
/// Bare names of plugins aren't completed from the working directory, because plugins are never looked up there.
enum Completions {
    enum Shell: String, CaseIterable, Sendable {
        case bash, zsh, fish
    }

    /// Returns the script for the shell that the operand names.
    static func script(for arguments: Arguments) throws(UsageError) -> String {
        guard arguments.operands.count == 1, let shell = Shell(rawValue: arguments.operands[0]) else {
            throw UsageError("completions needs one of \(Shell.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return script(for: shell)
    }

    static func script(for shell: Shell) -> String {
        switch shell {
        case .bash: bash
        case .zsh: zsh
        case .fish: fish
        }
    }

    static let methods = [HTTPMethod.get, .head, .post, .put, .patch, .delete, .options].map(\.rawValue)

    static let languages = ProjectLanguage.allCases.map(\.rawValue)

    /// Shell code for bash and zsh that prints the folders in which bare names are looked up, one on each line.
    ///
    /// - Parameter executable: shell code that prints the executable's path, for the folders beside it.
    static func pluginFolders(executable: String) -> String {
        """
            printf '%s\\n' "${NEVOD_PLUGIN_PATH:-}" | tr : '\\n' | grep '^/'
            printf '%s\\n' "${XDG_DATA_HOME:-$HOME/.local/share}/nevod/plugins" /usr/local/lib/nevod/plugins /usr/lib/nevod/plugins
            local executable
            executable=$(\(executable) 2>/dev/null) || return 0
            executable=$(readlink -f -- "$executable") || return 0
            printf '%s\\n' "${executable%/*}" "${executable%/*/*}/lib/nevod/plugins"
        """
    }

    /// The kinds of values that the scripts ask this program for.
    static let asked: [Flag.ValueKind] = [.setting, .parameter, .scheme, .account, .format]

    /// Shell code that prints the names of the config file's sections.
    static let profiles =
        #"sed -n 's/^[[:space:]]*\[[[:space:]]*\([^]]*[^][:space:]]\)[[:space:]]*\].*/\1/p' "#
        + #""${XDG_CONFIG_HOME:-$HOME/.config}/nevod/config" 2>/dev/null"#
}

/// Completes a word for a shell: settings, parameters, schemes, accounts, sessions, and the words of `credential`. Asks no
/// questions, sends nothing, and prints no errors.
///
/// Not a command for people. The scripts of `completions` call `nevod-host complete-for-shell KIND WORD…` with the words up to
/// the cursor. It prints one candidate on each line.
struct CompletionQuery {
    private static let word = "complete-for-shell"
    /// The timeout in seconds, for a slow plugin or for a store that another process has locked.
    private static let patience: UInt32 = 3

    static func isMeant(by words: [[UInt8]]) -> Bool { words.first?.elementsEqual(word.utf8) == true }

    static func main(_ words: [[UInt8]]) -> Never {
        alarm(patience)
        Terminal.forbid()
        // Hides the output and the crashes of plugins, which must not become candidates.
        let output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3)
        let nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard output >= 0, nowhere >= 0, dup2(nowhere, STDOUT_FILENO) >= 0, dup2(nowhere, STDERR_FILENO) >= 0 else { _exit(0) }
        let texts = words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
        guard let kind = texts.first, let last = texts.dropFirst().last else { _exit(0) }
        let query = CompletionQuery(words: Array(texts.dropFirst(1).dropLast()), current: last)
        Task {
            let found = await query.candidates(kind).filter { candidate in
                !candidate.utf8.contains(where: \.isControl)
            }
            try? FileDescriptor(number: output, name: "standard output").write(
                Array(found.map { "\($0)\n" }.joined().utf8).span)
            _exit(0)
        }
        while true { pause() }
    }

    /// The words before the one at the cursor.
    let words: [String]
    /// The word at the cursor, or the part of it that is a flag's value.
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

    /// Returns `NAME=` for each setting; after `NAME=`, the setting's choices or the sources of its value.
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

    /// Returns `preset=`; once that is typed, the names of the presets; once one is chosen, `NAME=` for each value that it needs.
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

    /// The longest part of the command line that can be parsed, with the flags of its profile.
    private func arguments() -> Arguments? {
        var words = words
        // The last word may be a flag that still lacks its value.
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

    /// The chosen scheme, or all schemes of the plugin.
    private func schemes() -> [Scheme] {
        guard let plugin = plugin() else { return [] }
        guard let id = arguments()?.value(.scheme) else { return plugin.schemes }
        return plugin.schemes.filter { $0.id == id }
    }

    /// The sessions of the profile, or all sessions without a profile. Their names aren't secret, but the store must be opened to
    /// read them.
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
