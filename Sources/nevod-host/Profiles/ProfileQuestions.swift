import Glibc
import NevodHost
import NevodHostSecretService
import NevodPluginChecks
import NevodSupport

/// The questions of `profile add` at the terminal.
struct ProfileQuestions {
    let scheme: Scheme
    /// The place from `--secret-store`; nil to ask for one.
    let place: SecretPlace?
    let console: Console

    // MARK: Plugin and URL

    /// Asks for a line, and trims spaces from the answer.
    static func line(_ prompt: String) throws -> String {
        guard let answer = try Terminal.askLine(prompt) else {
            throw UsageError("there is no terminal to ask at; write --url URL, --plugin NAME and --set NAME=VALUE")
        }
        return String(answer.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// Asks until the answer is usable, at most three times.
    private static func line<Value>(_ prompt: String, _ value: (String) throws -> Value) throws -> Value {
        for _ in 1..<3 {
            do { return try value(try line(prompt)) } catch let error as Retry { Terminal.write("\(error.problem)\n") }
        }
        do { return try value(try line(prompt)) } catch let error as Retry { throw UsageError(error.problem) }
    }

    private struct Retry: Error {
        let problem: String
    }

    static func url() throws -> String? {
        try line("URL of the service (https://…, empty for none): ") { (answer) -> String? in
            guard !answer.isEmpty else { return nil }
            let url = answer.contains("://") ? answer : "https://\(answer)"
            do throws(ConfigError) { _ = try ConfigFile(path: "", bytes: Array("[a]\nurl = \(url)".utf8)) } catch {
                throw Retry(problem: error.problem)
            }
            do { _ = try HTTPRequest(.get, url) } catch { throw Retry(problem: "\(error)") }
            return url
        }
    }

    /// Offers the plugins that are found, with the descriptions of `inspect`. A path may be typed as well.
    static func plugin() throws -> String? {
        let found = foundPlugins()
        var text = ""
        for (index, plugin) in found.enumerated() { text += "  \(index + 1)  \(plugin.name)\n\(plugin.description)" }
        Terminal.write(
            found.isEmpty ? "No plugins are found in \(PluginLocator.standard.folders.joined(separator: ":")).\n" : text)
        return try line(
            found.isEmpty ? "Plugin (a path, or empty for none): " : "Plugin (number, name or path, empty for none): "
        ) { answer in
            guard !answer.isEmpty else { return nil }
            if let number = Int(answer), found.indices.contains(number - 1) { return found[number - 1].name }
            let path: String
            do { path = try PluginLocator.standard.find(HomeFolder.expanding(answer)) } catch { throw Retry(problem: "\(error)") }
            return answer.contains("/") ? path : answer
        }
    }

    private static func foundPlugins() -> [(name: String, description: String)] {
        var found: [(name: String, description: String)] = []
        for folder in PluginLocator.standard.folders {
            for name in names(in: folder).sorted() where name.hasSuffix(".so") && !found.contains(where: { $0.name == name }) {
                let runner = CheckRunner(CheckRunner.Options(path: "\(folder)/\(name)", timeout: 10, seed: 0))
                guard (try? Plugin.checkBeforeLoading("\(folder)/\(name)")) != nil,
                    case .text(let text)? = try? runner.inspect(asJSON: false)
                else { continue }
                let schemes = text.split(separator: "\n").filter { $0.hasPrefix("scheme ") }
                found.append((name, schemes.map { "       \($0.dropFirst(7))\n" }.joined()))
            }
        }
        return found
    }

    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                if let name = String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) { names.append(name) }
            }
        }
        return names
    }

    /// Asks for a scheme; returns nil if the plugin has only one.
    static func scheme(of plugin: Plugin) throws -> String? {
        let schemes = plugin.schemes
        guard schemes.count > 1 else { return nil }
        Terminal.write(schemes.enumerated().map { "  \($0 + 1)  \($1.id): \($1.title)\n" }.joined())
        return try line("Scheme (number or name): ") { answer in
            if let number = Int(answer), schemes.indices.contains(number - 1) { return schemes[number - 1].id }
            guard schemes.contains(where: { $0.id == answer }) else {
                throw Retry(problem: "one of \(schemes.map(\.id).joined(separator: ", "))")
            }
            return answer
        }
    }

    // MARK: Settings

    /// Offers the scheme's presets, if it has any.
    func askPreset(_ draft: inout ProfileDraft) throws {
        let name = SchemePreset.settingName
        let known = SchemePreset.names(for: scheme)
        guard !known.isEmpty, !scheme.settings.contains(where: { $0.name == name }), !draft.settings.contains(name) else {
            return
        }
        let list = known.count > 40 ? "\(known.count); nevod-host help presets lists them" : known.joined(separator: ", ")
        Terminal.write("Presets: \(list)\n")
        let preset = try Self.line("Preset (empty for none): ") { answer in
            guard answer.isEmpty || known.contains(answer) else {
                throw Retry(problem: "no preset \(TerminalText.safe(answer))\(Suggestions.hint(for: answer, among: known))")
            }
            return answer
        }
        if !preset.isEmpty { draft.add(.set, "\(name)=\(preset)") }
    }

    /// Asks for missing required settings and for what the preset needs. Then, on request, asks for the other settings.
    func askMissing(_ draft: inout ProfileDraft, offersOptional: Bool) throws {
        guard Terminal.isAvailable else { return }
        let source = SettingSource(scheme: scheme, console: console)
        let preset = try source.preset(draft.values(.set))
        if let preset {
            for placeholder in preset.missingPlaceholders(try source.unread(draft.values(.set))) {
                let answer = try Self.line("\(placeholder.name) (\(TerminalText.safe(placeholder.help))): ") { answer in
                    do throws(PresetError) { try preset.check(answer, for: placeholder.name) } catch {
                        throw Retry(problem: "\(error)")
                    }
                    return answer
                }
                draft.add(.set, "\(placeholder.name)=\(answer)")
            }
        }
        let given = draft.settings.union(preset?.settingNames ?? [])
        let missing = scheme.settings.filter { !given.contains($0.name) }
        for setting in missing where setting.isRequired { try ask(setting, &draft) }
        let optional = missing.filter { !$0.isRequired }
        guard offersOptional, !optional.isEmpty else { return }
        let names = optional.map(\.name).joined(separator: ", ")
        guard ["y", "yes"].contains(try Self.line("Set others as well (\(names))? (y/N) ").lowercased()) else { return }
        for setting in optional { try ask(setting, &draft) }
    }

    func ask(_ name: String, _ draft: inout ProfileDraft) throws {
        guard let setting = scheme.settings.first(where: { $0.name == name }) else { return }
        try ask(setting, &draft)
    }

    private func ask(_ setting: SchemeSetting, _ draft: inout ProfileDraft) throws {
        let help = setting.help.isEmpty ? "" : " (\(setting.help))"
        guard !setting.isSecret else { return try askSecret(setting, help, &draft) }
        let choices = setting.kind == .choice ? ", one of \(setting.choices.joined(separator: ", "))" : ""
        let otherwise =
            setting.defaultValue.map { ", empty for \($0)" } ?? (setting.isRequired ? "" : ", empty for none")
        let answer = try Self.line("\(setting.name)\(help)\(choices)\(otherwise): ") { answer in
            guard setting.kind != .choice || answer.isEmpty || setting.choices.contains(answer) else {
                throw Retry(problem: "one of \(setting.choices.joined(separator: ", "))")
            }
            return answer
        }
        guard !answer.isEmpty || setting.isRequired else { return }
        draft.add(.set, "\(setting.name)=\(SecretSource.isSource(answer) || answer.hasPrefix("text:") ? "text:" : "")\(answer)")
    }

    private enum Choice {
        case kept(SecretPlace)
        case variable, command, asked
    }

    private func askSecret(_ setting: SchemeSetting, _ help: String, _ draft: inout ProfileDraft) throws {
        switch try choice(setting, help) {
        case .kept(let place):
            guard let secret = try Terminal.askSecret("\(setting.name): ") else {
                throw UsageError("there is no terminal to ask at")
            }
            guard !secret.isEmpty || setting.isRequired else { return }
            draft.add(setting.name, secret, in: place)
        case .variable:
            let name = try Self.line("Name of the variable: ") { name in
                guard !name.isEmpty, !name.contains("=") else { throw Retry(problem: "a name such as WORK_SECRET, not a value") }
                return name
            }
            draft.add(.set, "\(setting.name)=env:\(name)")
        case .command:
            let command = try Self.line("Command that prints it: ") { text in
                do throws(CommandWordsError) { _ = try CommandWords.split(text) } catch {
                    throw Retry(problem: "the command \(error)")
                }
                return text
            }
            draft.add(.set, "\(setting.name)=command:\(command)")
        case .asked: return
        }
    }

    private func choice(_ setting: SchemeSetting, _ help: String) throws -> Choice {
        if let place { return .kept(place) }
        var choices: [(text: String, choice: Choice)] = [
            ("a file that only you can read", .kept(.file)), ("an environment variable", .variable),
            ("a command that prints it", .command),
            (setting.isRequired ? "nowhere: ask each time" : "leave it out", .asked),
        ]
        if (try? waiting(for: { await SecretServiceStorage.isAvailable() })) == true {
            choices.insert(("the desktop's keyring", .kept(.keyring)), at: 0)
        }
        Terminal.write("\(setting.name)\(help) is a secret. Keep it in\n")
        Terminal.write(choices.enumerated().map { "  \($0 + 1)  \($1.text)\n" }.joined())
        return try Self.line("Number: ") { answer in
            guard let number = Int(answer), choices.indices.contains(number - 1) else {
                throw Retry(problem: "a number from 1 to \(choices.count)")
            }
            return choices[number - 1].choice
        }
    }
}
