import NevodHost
import NevodSupport

/// Reads a setting's value from its source, so that no secret is on a command line, which every process on the machine can read.
struct SettingSource {
    let scheme: Scheme
    let console: Console
    /// Values by source, for sources that don't exist yet.
    var known: [String: Secret] = [:]
    /// Whether to ask for missing required secrets.
    var asks = true

    /// Reads the settings of `--set` and of their preset, and asks at the terminal for missing required secrets.
    ///
    /// - Returns: the settings, and the files they come from.
    func settings(_ given: [String]) throws -> (SchemeSettings, SettingPlaces) {
        let given = try given.map(Self.parts)
        let preset = try preset(given)
        var settings = SchemeSettings()
        var values: [(name: String, place: SettingPlaces.Place, lines: Int)] = []
        for (name, source) in given where preset == nil || name != SchemePreset.settingName {
            let isPlain = preset?.placeholders.contains { $0.name == name } ?? false
            let read = try SubjectError.adding(.part(.set, name)) { try value(of: name, source, isPlain: isPlain) }
            settings.add(name, read)
            values.append((name, Self.place(of: source), read.lineCount))
        }
        var places = SettingPlaces()
        if let preset {
            for (name, line) in preset.lines(beside: settings) { places.add(name, .preset(preset.path, line: line)) }
            settings = try preset.settings(settings)
        }
        for (name, place, lines) in values { places.add(name, place, lines: lines) }
        // Reports a mistyped name before it asks for anything.
        try scheme.checkNames(of: settings)
        let missing = scheme.settings.filter { $0.isRequired && !settings.contains($0.name) }
        guard asks else { return (settings, places) }
        // Reports everything that would fail after the prompt.
        guard missing.allSatisfy(\.isSecret) else { throw SettingSourceError(missing: missing, of: scheme) }
        for setting in missing { settings.add(setting.name, .secret(try ask(for: setting, missing))) }
        return (settings, places)
    }

    private static func place(of source: String) -> SettingPlaces.Place {
        guard SecretSource.Kind(of: source) == .file else { return .other }
        let path = HomeFolder.expanding(String(decoding: source.utf8.dropFirst("file:".utf8.count), as: UTF8.self))
        return path == "-" ? .other : .file(path)
    }

    /// Returns the preset of `--set`; nil without one.
    func preset(_ given: [String]) throws -> SchemePreset? { try preset(given.map(Self.parts)) }

    /// Returns the settings with the sources instead of the values, for uses that depend only on names.
    func unread(_ given: [String]) throws -> SchemeSettings {
        var settings = SchemeSettings()
        for text in given {
            let (name, source) = try Self.parts(text)
            settings.add(name, .text(source))
        }
        return settings
    }

    /// Returns the name and the source of a value.
    static func parts(_ text: String) throws -> (name: String, source: String) {
        // Splits by bytes: a combining mark after the equals sign would hide it, and the text after it may be a secret.
        guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            throw UsageError("--set needs a name and a value: --set NAME=VALUE")
        }
        return (String(text[..<equals]), String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self))
    }

    /// Returns the preset that `--set preset=NAME` or `preset=file:PATH` chooses; nil without one.
    private func preset(_ given: [(name: String, source: String)]) throws -> SchemePreset? {
        let name = SchemePreset.settingName
        let chosen = given.filter { $0.name == name }
        // A scheme's own setting of this name hides the presets.
        guard let source = chosen.first?.source, !scheme.settings.contains(where: { $0.name == name }) else { return nil }
        guard chosen.count == 1 else { throw SettingSourceError("--set \(name) was given more than once; choose one preset") }
        if SecretSource.Kind(of: source) == .file {
            let path = String(decoding: source.utf8.dropFirst("file:".utf8.count), as: UTF8.self)
            return try SchemePreset.file(HomeFolder.expanding(path), for: scheme)
        }
        let read = try SubjectError.adding(.part(.set, name)) { try value(of: name, source, isPlain: true) }
        guard case .text(let text) = read else { return nil }
        return try SchemePreset.named(text, for: scheme)
    }

    /// - Parameter isPlain: whether the value isn't a secret, although the scheme has no setting of the name.
    private func value(of name: String, _ source: String, isPlain: Bool) throws -> SchemeSettings.Value {
        // An unknown name may be a mistyped secret's, so its value is treated as secret. The scheme then reports the known names.
        let setting = scheme.settings.first { $0.name == name }
        let isSecret = setting?.isSecret ?? !isPlain
        if SecretSource.isSource(source) {
            let value =
                if let value = known[source] { value } else {
                    try SecretSource(console: console).read(source, what: "the setting \"\(name)\"", isSecret: isSecret)
                }
            return isSecret ? .secret(value) : .text(value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
        try refusePlain(name, source)
        return .text(source.hasPrefix("text:") ? String(source.dropFirst(5)) : source)
    }

    private func ask(for setting: SchemeSetting, _ missing: [SchemeSetting]) throws -> Secret {
        guard let answer = try Terminal.askSecret("\(setting.help.isEmpty ? setting.name : setting.help): ") else {
            let names = missing.map { "\"\($0.name)\"" }.joined(separator: " and ")
            throw SettingSourceError(
                "the setting\(missing.count == 1 ? "" : "s") \(names) \(missing.count == 1 ? "is" : "are") needed and there is no terminal "
                    + "to ask for \(missing.count == 1 ? "it" : "them"); write "
                    + missing.map { "--set \($0.name)=env:VARIABLE" }.joined(separator: " ") + ", file:PATH or -")
        }
        return answer
    }
}

extension SettingSourceError {
    /// - Parameter missing: the required settings that were not given. Secrets among them could still be asked for.
    fileprivate init(missing: [SchemeSetting], of scheme: Scheme) {
        let names = missing.filter { !$0.isSecret }.map { setting in
            "\"\(setting.name)\"" + (setting.help.isEmpty ? "" : " (\(setting.help))")
        }
        let words = missing.map { "--set \($0.name)=\($0.isSecret ? "env:VARIABLE" : "VALUE")" }
        self.init(
            "the scheme \"\(scheme.id)\" needs the setting\(names.count == 1 ? "" : "s") \(names.joined(separator: " and ")); write "
                + "\(words.joined(separator: " ")); all settings: nevod-host inspect \(ShellWord.quoted(scheme.plugin))")
    }
}

extension SchemeSettings.Value {
    fileprivate var lineCount: Int {
        let isBreak = { (byte: UInt8) in byte == UInt8(ascii: "\n") }
        return switch self {
        case .text(let text): text.utf8.count(where: isBreak) + 1
        case .secret(let secret): secret.withUnsafeBytes { $0.count(where: isBreak) } + 1
        }
    }
}
