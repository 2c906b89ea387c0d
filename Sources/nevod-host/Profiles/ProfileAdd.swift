import Glibc
import NevodHost
import NevodSupport

/// `profile add`: writes a new profile, from flags or from answers at the terminal, after its plugin has accepted the settings.
struct ProfileAdd {
    let arguments: Arguments
    let console: Console
    let writer: ConfigWriter

    private static let mostAttempts = 3

    func run(_ given: String?) throws {
        let isGuided = !arguments.has(.plugin) && !arguments.has(.profileURL) && Terminal.isAvailable
        guard let name = try given ?? (isGuided ? ProfileQuestions.line("Name of the profile: ") : nil) else {
            throw UsageError("profile add needs a NAME: nevod-host profile add NAME --url URL --plugin NAME")
        }
        try checkNew(name)
        var draft = try typed(name)
        guard isGuided || draft.url != nil || !draft.flags.isEmpty else {
            throw UsageError("there is no terminal to ask at; write --url URL, --plugin NAME and --set NAME=VALUE")
        }
        let place = try secretPlace()
        if isGuided {
            draft.url = try ProfileQuestions.url()
            if let plugin = try ProfileQuestions.plugin() { draft.flags.insert(ProfileFlag(.plugin, plugin, line: 0), at: 0) }
        }
        if let plugin = draft.values(.plugin).last {
            let plugin = try PluginLoader.load(HomeFolder.expanding(plugin))
            if isGuided, draft.values(.scheme).isEmpty, let id = try ProfileQuestions.scheme(of: plugin) {
                draft.add(.scheme, id)
            }
            let scheme = try plugin.scheme(draft.values(.scheme).last)
            let questions = ProfileQuestions(scheme: scheme, place: place, console: console)
            if isGuided { try questions.askPreset(&draft) }
            try questions.askMissing(&draft, offersOptional: isGuided)
        }
        try write(try checked(draft, place, isGuided: isGuided))
    }

    /// Returns a draft with the typed flags, in which no path depends on the working directory.
    private func typed(_ name: String) throws -> ProfileDraft {
        var draft = ProfileDraft(name)
        draft.url = arguments.value(.profileURL)
        let place = try secretPlace()
        for (flag, value) in arguments.typed {
            guard let known = Flag.all.first(where: { $0.name == flag }), known.isInProfiles else {
                guard [.profileURL, .secretStore].contains(flag) else {
                    throw UsageError("profile add takes no \(flag.spelling)")
                }
                continue
            }
            if flag == .set, let place, value.hasSuffix("=-") {
                let setting = String(value.dropLast(2))
                let secret = try SecretSource(console: console).read("-", what: "the setting \"\(setting)\"")
                draft.add(setting, secret, in: place)
            } else {
                draft.add(flag, try Self.absolute(ProfileFlag(flag, value, line: 0)))
            }
        }
        return draft
    }

    /// Returns the value with paths that don't depend on the working directory.
    static func absolute(_ flag: ProfileFlag) throws -> String {
        let value = flag.value
        let path = { (path: String) throws in
            path.isEmpty || path == "-" || path.hasPrefix("~/") || path.contains("://") ? path : try absolutePath(path)
        }
        if let source = flag.source, SecretSource.Kind(of: String(source)) == .file {
            return "\(value[..<source.startIndex])file:\(try path(String(source.dropFirst(5))))"
        }
        switch Flag.all.first(where: { $0.name == flag.name })?.value?.kind {
        case .file, .folder: return try path(value)
        case .plugin where value.contains("/"): return try path(value)
        case .content where value.hasPrefix("@"): return "@\(try path(String(value.dropFirst())))"
        default: return value
        }
    }

    private func secretPlace() throws -> SecretPlace? {
        guard let text = arguments.value(.secretStore) else { return nil }
        guard let place = SecretPlace(rawValue: text) else {
            throw UsageError(
                "--secret-store must be keyring or file; other sources, such as env:VARIABLE, are written with --set")
        }
        return place
    }

    /// Checks the profile as it would be in the file. Asks again for invalid answers.
    private func checked(_ draft: ProfileDraft, _ place: SecretPlace?, isGuided: Bool) throws -> ProfileDraft {
        var draft = draft
        for attempt in 1... {
            let file = try file(draft)
            let profile = try file.profile(draft.name)
            let known = Dictionary(
                draft.secrets.map { (ProfileFlag.resolved(source: $0.source, in: writer.folder), $0.value) },
                uniquingKeysWith: { $1 })
            let problems = ProfileCheck(file: file, profile: profile, console: console, known: known).problems()
            guard let problem = problems.first(where: { !isMissing($0) }) else {
                for missing in problems { console.warning("not tried: \(missing)") }
                return draft
            }
            let cause = Self.cause(of: problem)
            guard isGuided, attempt < Self.mostAttempts, let cause, !(cause is PresetError),
                case .part(.set, let name) = ErrorSubject(of: cause),
                let plugin = draft.values(.plugin).last
            else { throw cause ?? problem }
            Terminal.write("\(cause)\n")
            draft.removeSetting(name)
            let scheme = try PluginLoader.load(HomeFolder.expanding(plugin)).scheme(draft.values(.scheme).last)
            try ProfileQuestions(scheme: scheme, place: place, console: console).ask(name, &draft)
        }
        return draft
    }

    /// Returns the profile as the config file will hold it.
    func profile(_ draft: ProfileDraft) throws -> Profile { try file(draft).profile(draft.name) }

    private func file(_ draft: ProfileDraft) throws -> ConfigFile {
        var text = ConfigEditor([])
        text.append(draft.name, try draft.lines())
        let file = try ConfigFile(path: writer.path, bytes: text.bytes)
        guard try file.profile(draft.name).flags.map(\.value) == draft.flags.map(\.value) else {
            throw UsageError("a value can't be kept in a config file as it is; keep it in a file")
        }
        return file
    }

    /// Drops the file and line from an error, because the profile isn't written yet.
    private static func cause(of problem: any Error) -> (any Error)? {
        switch problem {
        case let error as ConfigError: UsageError(error.problem)
        case let error as SubjectError: error.underlying
        default: problem
        }
    }

    /// Whether a source can't be read now, but may be readable when the profile is used.
    private func isMissing(_ problem: any Error) -> Bool {
        if let error = problem as? PresetError, case .unsetVariable = error.reason { return true }
        guard let error = problem as? SubjectError else { return false }
        return !(error.underlying is SettingSourceError) || "\(error.underlying)".contains("which is not set")
    }

    /// Refuses an invalid name, and the name of an existing profile.
    func checkNew(_ name: String) throws {
        try ProfileName.check(name)
        try checkNew(name, try ConfigFile.load(path: writer.path))
    }

    private func checkNew(_ name: String, _ file: ConfigFile?) throws {
        guard let old = file?.profiles.first(where: { $0.name == name }) else { return }
        throw UsageError(
            "there is a profile \"\(TerminalText.safe(name))\" already, in \(writer.path):\(old.line); change it with nevod-host profile edit, "
                + "or remove it first")
    }

    /// Writes the secrets first: a profile without its secrets would be useless. Holds the lock for all of it, so that two
    /// programs don't choose the same place, and neither removes the other's secret.
    ///
    /// - Returns: the draft with its secrets' final places.
    @discardableResult
    func save(_ checked: ProfileDraft) throws -> ProfileDraft {
        var draft = checked
        var created: [KeptSecret] = []
        do {
            try writer.change { file, text in
                try checkNew(draft.name, file)
                try draft.keepSecrets(in: writer.folder, beside: file?.profiles ?? []) { created.append($0) }
                text.append(draft.name, try draft.lines())
            }
        } catch {
            for secret in created { try? secret.place.remove(secret.source, configFolder: writer.folder) }
            throw error
        }
        return draft
    }

    private func write(_ checked: ProfileDraft) throws {
        let draft = try save(checked)
        var lines = ["added \(draft.name) to \(writer.path)"] + draft.secrets.map { "kept a secret in \($0.source)" }
        let quoted = ShellWord.quoted(draft.name)
        if let plugin = draft.values(.plugin).last,
            (try? PluginLoader.load(HomeFolder.expanding(plugin)).scheme(draft.values(.scheme).last))?.hasFlows == true
        {
            lines.append("log in: nevod-host login --profile \(quoted)")
        }
        if draft.url != nil { lines.append("use it: nevod-host --profile \(quoted) /") }
        try output(lines.joined(separator: "\n"))
    }
}
