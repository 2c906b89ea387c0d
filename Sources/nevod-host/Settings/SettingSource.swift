import NevodHost

/// Reads the value of a setting from its source, so that a secret is never on a command line, which every process of the machine can
/// read.
struct SettingSource {
    let scheme: Scheme
    let console: Console

    /// Reads the settings of `--set`, and asks at the terminal for required secrets that are missing.
    func settings(_ given: [String]) throws -> SchemeSettings {
        var settings = SchemeSettings()
        for text in given {
            // Splits by bytes: a character that combines with the equals sign would hide it, and the text after it may be a secret.
            guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw UsageError("--set needs a name and a value: --set NAME=VALUE")
            }
            let name = String(text[..<equals])
            let source = String(decoding: text.utf8[equals...].dropFirst(), as: UTF8.self)
            settings.add(name, try value(of: name, source))
        }
        // Reports a mistyped name before asking for anything.
        try scheme.checkNames(of: settings)
        for setting in scheme.settings
        where setting.isRequired && setting.isSecret && !settings.contains(setting.name) {
            settings.add(setting.name, .secret(try ask(for: setting)))
        }
        return settings
    }

    private func value(of name: String, _ source: String) throws -> SchemeSettings.Value {
        // An unknown name may be a mistyped secret, so its value is treated as one; the scheme then reports the known names.
        let setting = scheme.settings.first { $0.name == name }
        let isSecret = setting?.isSecret ?? true
        if SecretSource.isSource(source) {
            let value = try SecretSource(console: console).read(source, what: "the setting \"\(name)\"", isSecret: isSecret)
            return isSecret ? .secret(value) : .text(value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
        guard setting?.isSecret != true else {
            throw SettingSourceError(
                "the setting \"\(name)\" is a secret, and a command line can be read by other processes; "
                    + "write --set \(name)=env:VARIABLE, file:PATH or -, or leave it out to be asked")
        }
        return .text(source.hasPrefix("text:") ? String(source.dropFirst(5)) : source)
    }

    private func ask(for setting: SchemeSetting) throws -> Secret {
        guard let answer = try Terminal.askSecret("\(setting.help.isEmpty ? setting.name : setting.help): ") else {
            throw SettingSourceError(
                "the setting \"\(setting.name)\" is needed and there is no terminal to ask for it; "
                    + "write --set \(setting.name)=env:VARIABLE, file:PATH or -")
        }
        return answer
    }
}
