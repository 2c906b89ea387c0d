import Glibc
import NevodHost

/// Reads a setting's value from where the user said it is, so that a secret never stands on a command line, which every
/// process of the machine can read.
struct SettingSource {
    let scheme: Scheme
    let console: Console

    /// All of `--set`, and what a person at the terminal answers for required secrets that are missing.
    func settings(_ given: [String]) throws -> SchemeSettings {
        var settings = SchemeSettings()
        for text in given {
            guard let equals = text.firstIndex(of: "=") else {
                throw UsageError("--set \(text) has no value; write --set NAME=VALUE")
            }
            let name = String(text[..<equals])
            settings.add(name, try value(of: name, String(text[text.index(after: equals)...])))
        }
        for setting in scheme.settings
        where setting.isRequired && setting.isSecret && !settings.contains(setting.name) {
            settings.add(setting.name, .secret(try ask(for: setting)))
        }
        return settings
    }

    private func value(of name: String, _ source: String) throws -> SchemeSettings.Value {
        // An unknown name may be a mistyped secret: its value is not repeated, and the scheme says what it knows.
        let isSecret = scheme.settings.first { $0.name == name }?.isSecret ?? true
        if source.hasPrefix("env:") {
            let variable = String(source.dropFirst(4))
            guard let text = environment(variable) else {
                throw SettingSourceError(name, "is to come from the environment variable \(variable), which is not set")
            }
            return value(Array(text.utf8), isSecret)
        }
        if source.hasPrefix("file:") {
            let path = String(source.dropFirst(5))
            if isSecret { warnIfOthersCanRead(path) }
            return value(withoutLineEnd(try readFile(path)), isSecret)
        }
        if source == "-" { return value(withoutLineEnd(try readFile("-")), isSecret) }
        guard !isSecret || !scheme.settings.contains(where: { $0.name == name }) else {
            throw SettingSourceError(
                name,
                "is a secret, and a command line can be read by other processes; "
                    + "write --set \(name)=env:VARIABLE, file:PATH or -, or leave it out to be asked")
        }
        return .text(source.hasPrefix("text:") ? String(source.dropFirst(5)) : source)
    }

    private func value(_ bytes: [UInt8], _ isSecret: Bool) -> SchemeSettings.Value {
        isSecret ? .secret(Secret(copying: bytes)) : .text(String(decoding: bytes, as: UTF8.self))
    }

    /// Editors and `echo` end a file with a line break that is not part of the value.
    private func withoutLineEnd(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return bytes
    }

    private func warnIfOthersCanRead(_ path: String) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_mode & S_IROTH != 0 else { return }
        console.warning("\(path) holds a secret and everyone can read it; chmod 600 it")
    }

    private func ask(for setting: SchemeSetting) throws -> Secret {
        guard let answer = try Terminal.askSecret("\(setting.help.isEmpty ? setting.name : setting.help): ") else {
            throw SettingSourceError(
                setting.name,
                "is needed and there is no terminal to ask for it; write --set \(setting.name)=env:VARIABLE, file:PATH or -")
        }
        return answer
    }
}

struct SettingSourceError: Error, CustomStringConvertible {
    let description: String

    init(_ name: String, _ problem: String) {
        description = "the setting \"\(name)\" \(problem)"
    }
}
